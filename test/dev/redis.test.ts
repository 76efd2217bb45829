// The private redis-server: ready when it is returned, gone when it is stopped, durable when it has a folder.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { freePort, type RedisOptions, startRedis } from "../../dev/redis.ts";
import { RespClient } from "../../dev/upstash/resp.ts";

async function start(options: RedisOptions = {}) {
  const redis = await startRedis(options);
  const client = new RespClient(redis.port);
  onTestFinished(async () => {
    client.close();
    await redis.kill();
  });
  const ask = async (...command: string[]) => String((await client.send([command]))[0]);
  return { redis, ask };
}

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("answers when it is returned, is empty after a restart, and ends when it is stopped", async () => {
  const { redis, ask } = await start();
  expect(await ask("PING")).toBe("PONG");
  await ask("SET", "k", "v");
  const { pid, port } = redis;
  await redis.restart();
  expect(redis.port).toBe(port);
  expect(redis.pid).not.toBe(pid);
  expect(isAlive(pid)).toBe(false);
  expect(await ask("EXISTS", "k")).toBe("0");
  await redis.stop();
  expect(isAlive(redis.pid)).toBe(false);
  await expect(ask("PING")).rejects.toThrow(/ECONNREFUSED/);
  await redis.stop();
});

test("with a folder the data outlive a stop and a kill", async () => {
  const dir = mkdtempSync(join(tmpdir(), "redis-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const { redis, ask } = await start({ dir: join(dir, "new"), detached: true });
  await ask("SET", "k", "v");
  await redis.restart();
  await ask("SET", "l", "w");
  await redis.kill();
  await redis.restart();
  expect([await ask("GET", "k"), await ask("GET", "l")]).toEqual(["v", "w"]);
});

test("paused it does not answer, and it can be stopped even then", async () => {
  const { redis, ask } = await start();
  redis.pause();
  const reply = ask("PING");
  expect(await Promise.race([reply, new Promise((resolve) => setTimeout(resolve, 100, "none"))])).toBe(
    "none",
  );
  redis.resume();
  expect(await reply).toBe("PONG");
  redis.pause();
  await redis.stop();
  expect(isAlive(redis.pid)).toBe(false);
});

test("names a port that is taken", async () => {
  const { redis, ask } = await start();
  await expect(startRedis({ port: redis.port })).rejects.toThrow(`port ${redis.port} is taken`);
  expect(await ask("PING")).toBe("PONG");
});

test("takes the port it is given, and many find one each", async () => {
  const port = await freePort();
  const servers = await Promise.all([start({ port }), start(), start(), start()]);
  expect(servers[0]?.redis.port).toBe(port);
  expect(new Set(servers.map(({ redis }) => redis.port)).size).toBe(4);
});

test("says what went wrong in the server's own words, and what to install where there is none", async () => {
  const dir = mkdtempSync(join(tmpdir(), "redis-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, "appendonlydir"));
  writeFileSync(join(dir, "appendonlydir", "appendonly.aof.manifest"), "nonsense\n");
  await expect(startRedis({ dir })).rejects.toThrow(/AOF/);
  vi.stubEnv("PATH", dir);
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(startRedis()).rejects.toThrow(/apt-get install redis-server/);
});
