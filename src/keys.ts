// Every key of a cell, one function a name. All carry the hash tag of the cell.
export type Keys = ReturnType<typeof keysOf>;

export function keysOf(cell: string) {
  const key = (...parts: string[]) => `{${cell}}:${parts.join(":")}`;
  return {
    meta: () => key("meta"),
    index: (what: "pools") => key("index", what),
    probe: () => ({ probe_key: key("probe"), stream_key: key("probe", "stream") }),
    provider: (provider: string) => key("provider", provider),
    lease: (lease: string) => key("lease", lease),
    /** The keys of one pool, under the names that scripts give them. */
    pool: (provider: string, pool: string) => {
      const pool_key = key("pool", provider, pool);
      return {
        pool_key,
        config_key: `${pool_key}:config`,
        secrets_key: `${pool_key}:secrets`,
        leases_key: `${pool_key}:leases`,
      };
    },
  };
}

/** A pool's name in a lease's record: `<provider>:<pool>`. */
export const homeOf = (provider: string, pool: string) => `${provider}:${pool}`;

/** The pool of a home. */
export const poolOfHome = (home: string) => home.slice(home.indexOf(":") + 1);
