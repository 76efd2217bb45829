-- A call: a hold and a lease that begin and end together. What its verbs share beside the libraries of both.
local function admitted(hold, sub_available, account_available, secret, now, replayed)
  local lease = hold.lease
  return reply("admitted", hold.amount, funding_text(hold.funding), sub_available, account_available, lease.credential,
    lease.fence, lease.expires_at_ms, lease.expires_at_ms - now, lease.max_expires_at_ms, hold.expires_at_ms, secret, replayed)
end

-- The same call again, while both are held.
local function replay_call(before, t, pool_key, secrets_key, fingerprint, home, now)
  if before.fingerprint ~= fingerprint or not before.lease then return reply("conflict") end
  if before.state ~= "open" then return reply("closed", before.state, before.charged) end
  if not t or not t.purse then return reply("absent") end
  if before.home ~= home then return reply("elsewhere", before.home) end
  local id = before.lease.credential
  local credential = decode_credential(redis.call("HGET", pool_key, id))
  local reason = standing(before.lease, credential, before.lease.expires_at_ms, now)
  if reason ~= "held" then return reply("lease_lost", reason) end
  local secret = redis.call("HGET", secrets_key, id) or ""
  return admitted(before, t.purse.was.available, t.account.was.available, secret, now, 1)
end

-- A refusal of the tenant's counts there, one of the pool's in the pool.
local function refuse_call(t, tenant_key, plan, kind, refusal, pool_key, leases_key)
  if refusal then
    count_refusal(t, tenant_key)
    return refusal
  end
  local due_in_ms, reasons = refusal_of(plan, leases_key, kind)
  write_pool(plan, pool_key, leases_key)
  if kind == "reclaim_due" then return reply("reclaim_due") end
  if kind == "breaker_open" then return reply("breaker_open", due_in_ms) end
  return reply("no_capacity", due_in_ms, reasons, plan.pool.seq)
end
