// /api/internal/calls: a hold and a lease that begin and end together.
import { router } from "../http.ts";
import { admitRoutes } from "./admit-routes.ts";
import { endRoutes } from "./end-routes.ts";

export const calls = router().route("/", admitRoutes).route("/", endRoutes);
