// A request of a job to a host outside: no redirect is followed, since it would carry a secret elsewhere; ten seconds; and the
// beginning of the answer.

const TIMEOUT_MS = 10_000;
const BODY_BYTES = 65_536;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Its first 64 kB, or what came of them in time. */
  readonly body: string;
}

async function beginningOf({ body }: Response): Promise<string> {
  const reader = (body as ReadableStream<Uint8Array> | null)?.getReader();
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  try {
    while (reader && bytes < BODY_BYTES) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes += value.length;
      text += decoder.decode(value, { stream: true });
    }
    await reader?.cancel();
  } catch {
    // The status may say enough.
  }
  return text.slice(0, BODY_BYTES);
}

/** undefined: no answer in time, or none at all. What went wrong is not told, since it could repeat a secret. */
export async function ask(url: string, init: RequestInit): Promise<Answer | undefined> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { ...init, redirect: "manual", signal });
    return { status: response.status, headers: response.headers, body: await beginningOf(response) };
  } catch {
    return undefined;
  }
}
