/** The routes of the management API, all of them; each resource has its file. contract.md "Management API". */
import { keyMoveRoutes } from "./key-moves.ts";
import { keyRoutes } from "./keys.ts";
import type { AdminRoute } from "./route.ts";
import { tokenRoutes } from "./tokens.ts";

export { registerAuth } from "./auth-routes.ts";
export { adminPrefix, registerAdmin } from "./register.ts";
export type { AdminRoute } from "./route.ts";
export type { AdminServices } from "./services.ts";

export const adminRoutes: readonly AdminRoute[] = [...keyRoutes, ...keyMoveRoutes, ...tokenRoutes];
