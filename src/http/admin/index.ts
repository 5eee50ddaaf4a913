/** All routes of the management API; each resource has its file. docs/management.md. */
import { alertRoutes } from "./alerts.ts";
import { auditRoutes } from "./audit.ts";
import { balanceRoutes } from "./balances.ts";
import { invitationRoutes } from "./invitations.ts";
import { catalogRoutes } from "./catalog.ts";
import { keyClientRoutes } from "./key-clients.ts";
import { keyMoveRoutes } from "./key-moves.ts";
import { keyRoutes } from "./keys.ts";
import { erasureRoutes } from "./erasures.ts";
import { eventRoutes } from "./events.ts";
import { gatewayRoutes } from "./gateways.ts";
import { hookRoutes } from "./hooks.ts";
import { infoRoutes } from "./info.ts";
import { meRoutes } from "./me.ts";
import { memberRestoreRoutes } from "./member-restore.ts";
import { memberRoutes } from "./members.ts";
import { modelRoutes } from "./models.ts";
import { moneyRoutes } from "./money.ts";
import { organizationRoutes } from "./organizations.ts";
import { providerMoveRoutes } from "./provider-moves.ts";
import { providerRoutes } from "./providers.ts";
import { passwordResetRoutes } from "./password-resets.ts";
import { requestRoutes } from "./requests.ts";
import type { AdminRoute } from "./route.ts";
import { routingPreviewRoutes } from "./routing-preview.ts";
import { searchRoutes } from "./search.ts";
import { sessionRoutes } from "./sessions.ts";
import { signingSecretRoutes } from "./signing-secret.ts";
import { taskMoveRoutes } from "./task-moves.ts";
import { taskRoutes } from "./tasks.ts";
import { tokenRoutes } from "./tokens.ts";
import { usageRoutes } from "./usage.ts";
import { webhookDeliveryRoutes } from "./webhook-deliveries.ts";
import { verifyRoutes } from "./verify.ts";
import { workspaceRoutes } from "./workspaces.ts";

export { authBodies } from "./auth-bodies.ts";
export { registerAuth } from "./auth-routes.ts";
export { callDirectly, csvDirectly, type DirectCall } from "./direct.ts";
export { adminPrefix, registerAdmin } from "./register.ts";
export { needsBody, type AdminRoute } from "./route.ts";

export const adminRoutes: readonly AdminRoute[] = [
  ...organizationRoutes,
  ...workspaceRoutes,
  ...moneyRoutes,
  ...balanceRoutes,
  ...verifyRoutes,
  ...memberRoutes,
  ...memberRestoreRoutes,
  ...invitationRoutes,
  ...passwordResetRoutes,
  ...signingSecretRoutes,
  ...keyRoutes,
  ...keyMoveRoutes,
  ...keyClientRoutes,
  ...tokenRoutes,
  ...sessionRoutes,
  ...requestRoutes,
  ...taskRoutes,
  ...taskMoveRoutes,
  ...webhookDeliveryRoutes,
  ...usageRoutes,
  ...modelRoutes,
  ...routingPreviewRoutes,
  ...providerRoutes,
  ...providerMoveRoutes,
  ...catalogRoutes,
  ...alertRoutes,
  ...auditRoutes,
  ...erasureRoutes,
  ...gatewayRoutes,
  ...hookRoutes,
  ...meRoutes,
  ...infoRoutes,
  ...eventRoutes,
  ...searchRoutes,
];
