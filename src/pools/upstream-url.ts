// Which URLs a credential may be used at: https, and no host of a private network, unless the deployment allows both.

const PRIVATE_NAMES = /(^|\.)(localhost|local|internal|lan|home|intranet)$/;
/** Loopback, private, link-local, shared, benchmark, multicast and reserved ranges of IPv4 (RFC 6890). */
const PRIVATE_V4 =
  /^(0|10|127)\.|^169\.254\.|^172\.(1[6-9]|2\d|3[01])\.|^192\.168\.|^192\.0\.[02]\.|^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|^198\.1[89]\.|^(22[4-9]|23\d|24\d|25[0-5])\./;

function isPrivateHost(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/\.$/, "");
  // Of IPv6 only global unicast (2000::/3) is let through, and none that embeds an IPv4 address (6to4, NAT64).
  if (host.startsWith("[")) return !/^\[[23][0-9a-f]{3}:/.test(host) || /^\[2002:/.test(host);
  return PRIVATE_V4.test(host) || PRIVATE_NAMES.test(host) || !host.includes(".");
}

/** Where a secret would go; empty without a URL. */
export const hostOf = (base_url: string | null | undefined) =>
  base_url && URL.canParse(base_url) ? new URL(base_url).host : "";

/** What is wrong with a base URL, or undefined. The URL itself is not repeated: it could carry a secret. */
export function baseUrlFault(text: string, allowPrivate: boolean): string | undefined {
  if (!URL.canParse(text)) return "it must be a URL";
  const url = new URL(text);
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:"))
    return "it must be an https URL";
  if (url.username || url.password) return "no user name and no password in the URL";
  if (url.search || text.includes("?")) return "no query in the URL";
  if (url.hash || text.includes("#")) return "no fragment in the URL";
  if (!allowPrivate && isPrivateHost(url.hostname)) return "no private or loopback host";
  return undefined;
}
