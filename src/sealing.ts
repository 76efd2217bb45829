// Secrets at rest: AES-256-GCM by WebCrypto. `<key id>.<base64url of 12 bytes nonce, ciphertext, tag>`; who the secret
// belongs to is additional data, so that a sealed text cannot be moved to another credential.
import { fingerprintOf } from "./ids.ts";

export type Secret = Record<string, unknown>;
/** Provider, pool and key_id of a credential. */
export type Owner = readonly [provider: string, pool: string, key_id: string];

export interface SealingKey {
  readonly key_id: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const NONCE_BYTES = 12;
const additional = (owner: Owner) => new TextEncoder().encode(owner.join(":"));

export class Sealing {
  private readonly imported = new Map<string, Promise<CryptoKey>>();
  private readonly keys: readonly SealingKey[];

  /** The first key seals, all of them open. */
  constructor(keys: readonly SealingKey[]) {
    this.keys = keys;
  }

  async seal(secret: Secret, owner: Owner): Promise<string> {
    const key_id = this.keys[0]?.key_id ?? "";
    const key = await this.key(key_id);
    if (!key) throw new Error("there is no sealing key");
    const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const plain = new TextEncoder().encode(JSON.stringify(secret));
    const algorithm = { name: "AES-GCM", iv, additionalData: additional(owner) };
    const sealed = await crypto.subtle.encrypt(algorithm, key, plain);
    return `${key_id}.${Buffer.concat([iv, new Uint8Array(sealed)]).toString("base64url")}`;
  }

  /** undefined: no key opens it, or it was not sealed for this owner. */
  async open(sealed: string, owner: Owner): Promise<Secret | undefined> {
    const dot = sealed.indexOf(".");
    const bytes = Buffer.from(sealed.slice(dot + 1), "base64url");
    const iv = new Uint8Array(bytes.subarray(0, NONCE_BYTES));
    const key = await this.key(sealed.slice(0, dot));
    if (!key) return undefined;
    try {
      const algorithm = { name: "AES-GCM", iv, additionalData: additional(owner) };
      const plain = await crypto.subtle.decrypt(algorithm, key, new Uint8Array(bytes.subarray(NONCE_BYTES)));
      return JSON.parse(new TextDecoder().decode(plain));
    } catch {
      return undefined;
    }
  }

  private key(key_id: string): Promise<CryptoKey> | undefined {
    const known = this.keys.find((key) => key.key_id === key_id);
    if (known && !this.imported.has(key_id)) {
      const usages = ["encrypt", "decrypt"];
      this.imported.set(key_id, crypto.subtle.importKey("raw", known.bytes, "AES-GCM", false, usages));
    }
    return this.imported.get(key_id);
  }
}

/** Tells two secrets apart without showing one: 24 bytes of the SHA-256 of its fields in order of name. */
export const secretFingerprint = (secret: Secret) =>
  fingerprintOf([JSON.stringify(Object.entries(secret).sort(([a], [b]) => (a < b ? -1 : 1)))], 24);
