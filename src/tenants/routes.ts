// /api/admin/tenants, with sub-accounts and tokens.
import { router } from "../http.ts";
import { subAccountRoutes } from "./sub-account-routes.ts";
import { tenantRoutes } from "./tenant-routes.ts";
import { tokenRoutes } from "./token-routes.ts";

export const tenants = router().route("/", tenantRoutes).route("/", subAccountRoutes).route("/", tokenRoutes);
