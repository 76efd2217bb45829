// The estimate of tokens where nobody counted them. In quarters of a token, which add up exactly over cuts of a text.

const QUARTERS_PER_ASCII_BYTE = 1;
const QUARTERS_PER_OTHER_BYTE = 2;

export const quartersOfByte = (byte: number) =>
  byte < 0x80 ? QUARTERS_PER_ASCII_BYTE : QUARTERS_PER_OTHER_BYTE;

/** Of a UTF-16 code unit. Each half of a surrogate pair counts for two of the four bytes. */
export function quartersOfCodeUnit(unit: number): number {
  if (unit < 0x80) return QUARTERS_PER_ASCII_BYTE;
  const bytes = unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
  return bytes * QUARTERS_PER_OTHER_BYTE;
}

export const tokensOfQuarters = (quarters: number) => Math.ceil(quarters / 4);

/** ASCII bytes / 4 and other UTF-8 bytes / 2, rounded up. */
export function estimateTokens(text: string): number {
  let quarters = 0;
  for (let i = 0; i < text.length; i++) quarters += quartersOfCodeUnit(text.charCodeAt(i));
  return tokensOfQuarters(quarters);
}
