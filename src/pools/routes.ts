// /api/admin/credentials and /api/admin/pools: all that an operator does with pools.
import { router } from "../http.ts";
import { credentials } from "./credential-routes.ts";
import { operations } from "./operate-routes.ts";
import { settings } from "./settings-routes.ts";

export const pools = router().route("/", credentials).route("/", operations).route("/", settings);
