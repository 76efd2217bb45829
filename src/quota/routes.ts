// Holds and purses: reserve, settle, void, extend, refund, adjust, balances.
import { router } from "../http.ts";
import { endRoutes } from "./end-routes.ts";
import { holdRoutes } from "./hold-routes.ts";
import { purseRoutes } from "./purse-routes.ts";
import { refundRoutes } from "./refund-routes.ts";

export const quota = router()
  .route("/", holdRoutes)
  .route("/", endRoutes)
  .route("/", refundRoutes)
  .route("/", purseRoutes);
