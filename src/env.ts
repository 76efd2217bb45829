// The Worker's variables, validated. docs/settings.md says what each is for.
import { z } from "zod";
import { id } from "./ids.ts";

/** A variable that is wrong or missing; its message names it and never shows a value. */
export class SettingsError extends Error {}

const whole = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, "a whole number")
    .transform(Number)
    .pipe(z.number().min(least).max(most));
const optional = <T extends z.ZodType>(type: T) =>
  z.union([z.literal("").transform(() => undefined), type]).optional();
const flag = z.enum(["true", "false"]).transform((on) => on === "true");
const url = z.url({ protocol: /^https?$/ });
/** One or more, comma-separated; an empty one would admit an empty header, so there is none. */
const keys = z
  .string()
  .transform((text) => text.split(",").map((key) => key.trim()))
  .pipe(z.array(z.string().min(8, "keys of at least 8 characters, comma-separated")).min(1).max(20));

const sealingKey = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,32}:[A-Za-z0-9+/]{43}=$/, "id:base64 of 32 bytes, comma-separated")
  .transform((text) => {
    const [key_id = "", base64 = ""] = text.split(":");
    return { key_id, bytes: new Uint8Array(Buffer.from(base64, "base64")) };
  });

const variables = z.object({
  CELL: id,
  TIME_ZONE: z.string().refine(isTimeZone, "an IANA time zone"),
  UPSTASH_REDIS_REST_URL: url,
  UPSTASH_REDIS_REST_TOKEN: z.string().min(1),
  REDIS_DIALECT: z.enum(["upstash", "redis"]),
  REDIS_TIMEOUT_MS: whole(10, 60_000),
  REQUEST_DEADLINE_MS: whole(10, 120_000),
  REDIS_MAX_BYTES: optional(whole(1_000_000, 10 ** 14)),
  DATABASE_URL: z.string().min(1),
  SQL_URL: optional(url),
  INTERNAL_KEYS: keys,
  ADMIN_KEYS: keys,
  METRICS_KEYS: keys,
  SESSION_KEYS: keys,
  SEALING_KEYS: z
    .string()
    .transform((text) => text.split(",").map((key) => key.trim()))
    .pipe(z.array(sealingKey).min(1).max(10))
    .refine((list) => new Set(list.map((key) => key.key_id)).size === list.length, "each id once"),
  LEASE_KEEP_MINUTES: whole(1, 1440),
  HOLD_KEEP_MINUTES: whole(1, 44_640),
  OP_KEEP_HOURS: whole(1, 744),
  SNAPSHOT_FRESH_MS: whole(0, 600_000),
  SNAPSHOT_STALE_MS: whole(0, 600_000),
  CATALOG_TTL_MS: whole(0, 600_000),
  UPSTREAM_FIRST_BYTE_MS: whole(100, 900_000),
  UPSTREAM_IDLE_MS: whole(100, 900_000),
  ALLOW_PRIVATE_UPSTREAMS: flag,
  MAX_BODY_BYTES: whole(1024, 104_857_600),
});

export type Settings = z.output<typeof variables>;

/** Their names. */
export const VARIABLES = Object.keys(variables.shape);

function isTimeZone(zone: string) {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/** Throws SettingsError, which names every variable that is wrong. */
export function settingsOf(env: Env): Settings {
  const parsed = variables.safeParse(env);
  if (parsed.success) return parsed.data;
  const wrong = new Map(
    parsed.error.issues.map(({ path: [name], message }) => {
      const given = env[name as keyof Env];
      return [String(name), given === undefined ? "missing" : message];
    }),
  );
  const list = [...wrong].map(([name, reason]) => `${name} (${reason})`).join("; ");
  throw new SettingsError(`these variables of the Worker are missing or wrong: ${list}`);
}
