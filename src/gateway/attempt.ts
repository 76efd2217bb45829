// One credential tried: its answer is relayed, or the admission is taken back and the failure says what may still serve.
import type { Admission } from "./admission.ts";
import type { Failure, Serve, Served } from "./call.ts";
import { type Classified, classify, classifyWords } from "./classify.ts";
import { BodyMeter } from "./meter/body.ts";
import type { Meter } from "./meter/reading.ts";
import { StreamMeter } from "./meter/stream.ts";
import { Relay } from "./relay.ts";
import { rewriteRequest } from "./rewrite.ts";
import { type Answered, beginning, type Failed, send } from "./upstream.ts";

/** One credential: relayed, or the admission is taken back and the failure says what may still serve. */
export async function attempt(call: Serve, admission: Admission): Promise<Served> {
  const { deps, trail, request, dialect, resolved, request_id } = call;
  const started_at_ms = Date.now();
  const named = {
    provider: admission.route.provider,
    pool: admission.lease.pool,
    key_id: admission.lease.grant.credential,
  };
  const tried = (status: number) => (outcome: string) =>
    trail.add({ ...named, status, outcome, ms: Date.now() - started_at_ms });

  const answered = await sendAsked(call, admission);
  if (typeof answered === "string") return lose(call, admission, failureOf(answered, admission), tried(0));
  const { response } = answered;
  const refused = await refusalOf(call, admission, answered);
  if (refused) return lose(call, admission, refused, tried(response.status));

  const stream = isStream(response);
  const drop_usage_chunk = dialect === "openai_chat" && request.stream && !request.wants_usage;
  const meter: Meter = stream ? new StreamMeter(dialect, { drop_usage_chunk }) : new BodyMeter(dialect);
  const relay = new Relay({
    ...{ deps, dialect, admission, answered, meter, stream, trail, request_id, free: call.free },
    model: resolved.model,
    tried: tried(response.status),
  });
  call.signal.addEventListener("abort", () => relay.stop("caller_left"), { once: true });
  return { kind: "relayed", response, relay, admission };
}

const isStream = (response: Response) =>
  /^text\/event-stream\b/.test(response.headers.get("content-type") ?? "");

/** Asks for the usage of a stream, and once more without when upstream does not know that option. */
async function sendAsked(call: Serve, admission: Admission): Promise<Answered | Failed> {
  const { dialect, path, headers, request, text, caller, signal, deps } = call;
  const asks = dialect === "openai_chat" && request.stream && !request.wants_usage;
  const scope = [caller.tenant, caller.sub_account];
  const beat = setInterval(() => void admission.renew(0), 40_000);
  const once = (include_usage: boolean, more: readonly string[]) => {
    const body = rewriteRequest(text, { model: admission.lease.provider_model, include_usage });
    return send(deps, admission, { dialect, path, headers, body, scope: [...scope, ...more] }, signal);
  };
  try {
    const answered = await once(asks, []);
    if (typeof answered === "string" || !asks || answered.response.status !== 400) return answered;
    const body = await beginning(answered, deps.settings.UPSTREAM_IDLE_MS);
    const { headers: said, status } = answered.response;
    if (classify(dialect, { status, headers: said, body }).code === "stream_options_rejected")
      return await once(false, ["again"]);
    return {
      ...answered,
      response: new Response(body, answered.response),
      reader: new Response(body).body?.getReader(),
    };
  } finally {
    clearInterval(beat);
  }
}

/** An answer that is an error, also one with status 200 or in the first event of a stream. */
async function refusalOf(
  call: Serve,
  { lease }: Admission,
  answered: Answered,
): Promise<Failure | undefined> {
  const { dialect, deps } = call;
  const { response, first } = answered;
  const { status, headers } = response;
  if (!response.ok) {
    const body = await beginning(answered, deps.settings.UPSTREAM_IDLE_MS);
    const verdict = classify(dialect, { status, headers, body });
    return { status, headers, body, verdict, why: "answer", secret: lease.secret };
  }
  const probe: Meter = isStream(response)
    ? new StreamMeter(dialect, { drop_usage_chunk: false })
    : new BodyMeter(dialect);
  if (first) probe.push(first);
  const { error, delivered_tokens } = probe.reading();
  if (!error || delivered_tokens > 0) return undefined;
  answered.abort();
  const verdict = classifyWords(dialect, error);
  return { status: 502, headers, body: "", verdict, why: "answer", secret: lease.secret };
}

const SILENT: Record<Failed, Classified> = {
  timeout: { outcome: "upstream_error", retry: "next_credential" },
  unreachable: { outcome: "upstream_error", retry: "next_credential" },
  no_base_url: { outcome: "client_error", retry: "next_credential" },
  aborted: { outcome: "cancelled", retry: "no" },
};
const failureOf = (why: Failed, { lease }: Admission): Failure => ({
  ...{ status: why === "timeout" ? 504 : 502, headers: new Headers(), body: "", why, secret: lease.secret },
  verdict: SILENT[why],
});

/** Nothing was delivered: the call may move on, or it is void. */
async function lose(
  call: Serve,
  admission: Admission,
  failure: Failure,
  tried: (outcome: string) => void,
): Promise<Served> {
  const { outcome, retry, retry_after_ms } = failure.verdict;
  tried(outcome);
  if (retry !== "no") {
    await admission.undo({ outcome, retry_after_ms });
    return { kind: "failed", failure, final: false };
  }
  const note = call.trail.note(call.resolved.model, admission.estimate.amount, outcome, undefined);
  const ended = admission.finish({ how: "voided", amount: 0, outcome, retry_after_ms, note });
  call.deps.background(ended);
  return { kind: "failed", failure, final: true };
}
