// The demo upstream as its own process: node bench/gateway/upstream.ts <port>. It ends when its stdin does.
import { startUpstream } from "../../dev/upstream/server.ts";

await startUpstream({ port: Number(process.argv[2]) });
process.stdin.resume().on("end", () => process.exit(0));
