// The whole service, as a table of contents.
import { except } from "hono/combine";
import { requestId } from "hono/request-id";
import { adminKey, internalKey, metricsKey } from "./authority.ts";
import { calls } from "./calls/routes.ts";
import { catalog } from "./catalog/routes.ts";
import { cell } from "./cell/routes.ts";
import { status } from "./cell/status.ts";
import { docs } from "./docs/routes.ts";
import { fail } from "./errors.ts";
import { gateway } from "./gateway/routes.ts";
import { API_BODY_BYTES, IMPORT_BODY_BYTES, limitBody, observed, onError, router, withDeps } from "./http.ts";
import { mint } from "./ids.ts";
import { journal } from "./journal/routes.ts";
import { leases } from "./leases/routes.ts";
import { pools } from "./pools/routes.ts";
import { quota } from "./quota/routes.ts";
import { tenants } from "./tenants/routes.ts";

export const app = router();

app.use(requestId({ generator: () => mint("req"), limitLength: 64 }));
app.get("/healthz", (c) => c.text("ok\n"));
app.route(
  "/",
  docs(() => app),
);

app.use(observed, withDeps);
app.use("/metrics", metricsKey);
app.use("/api/internal/*", internalKey, limitBody(API_BODY_BYTES));
app.use("/api/admin/*", adminKey);
app.use("/api/admin/prices/import", limitBody(IMPORT_BODY_BYTES));
app.use("/api/admin/*", except("/api/admin/prices/import", limitBody(API_BODY_BYTES)));

app.route("/", status); //  /readyz  /metrics
app.route("/", cell); //    /api/admin/cell
app.route("/", pools); //   /api/admin/credentials
app.route("/", leases); //  /api/internal/allocate-key  /api/internal/leases
app.route("/", calls); //   /api/internal/calls
app.route("/", journal); // /api/admin/journal
app.route("/", gateway); // /v1
app.route("/", catalog); //  /api/admin/prices  /api/admin/models
app.route("/", tenants); // /api/admin/tenants
app.route("/", quota); //   /api/internal/holds  /api/internal/refunds  …/balances  …/adjust

app.notFound((c) => fail(c, "not_found", "no such route", {}));
app.onError(onError);
