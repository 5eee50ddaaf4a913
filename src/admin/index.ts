/** Administration: authenticates callers, checks their rights and records their changes. docs/management.md. */
export { changePassword, signIn, type PasswordOwner, type SignedIn } from "./accounts.ts";
export { adminTokenActor, creatorOf, type Actor } from "./actor.ts";
export { openAdminToken } from "./admin-token.ts";
export { eraseAuditNames } from "./audit-names.ts";
export { listAudit, renderAudit, writeAudit, writeAudits } from "./audit.ts";
export { createActors, type Actors } from "./authenticate.ts";
export {
  createEventHub,
  type EventHub,
  type EventHubOptions,
  type ReaderScope,
  type Sink,
  type StreamEvent,
} from "./events/hub.ts";
export type { NoticeTopic } from "./events/notices.ts";
export type { NewRow, Topic } from "./events/reader.ts";
export { etagOf } from "./etag.ts";
export { allows, insufficient, organizationIdsOf, permit, visibilityOf } from "./guard.ts";
export { acceptInvitation } from "./invitation-acceptance.ts";
export {
  keyKind,
  memberKind,
  organizationKind,
  placeOfWorkspace,
  signingSecretKind,
  tokenKind,
  workspaceKind,
} from "./kinds.ts";
export {
  changeObject,
  createObject,
  readObject,
  type RequestContext,
  type ObjectKind,
  type WithinChange,
} from "./objects.ts";
export { cookiePrefix, createSessions, type Sessions } from "./sessions.ts";
export { createPasswordReset, readPasswordReset, redeemPasswordReset } from "./password-resets.ts";
export {
  endSession,
  endSessions,
  getSession,
  keepSession,
  listSessions,
  sessionEnded,
  sessionKind,
  type OwnSession,
} from "./own-sessions.ts";
export {
  getProvider,
  openProvider,
  providerKind,
  type ProviderContext,
  type ProviderObject,
} from "./provider-objects.ts";
export {
  addCredential,
  addProvider,
  changeProvider,
  dropCredential,
  dropProvider,
  pauseProvider,
} from "./providers.ts";
export { browserCookie } from "./known-browser.ts";
export { checkObjectLimit } from "./object-limits.ts";
export { createThrottle, sweepSignIns, type Throttle } from "./throttle.ts";
export { loosensCaps, sameCaps } from "./spend-caps.ts";
export { rightsOf } from "./rights-of.ts";
export { rights, verdict, type Action, type Relation, type Role } from "./rights.ts";
export { createToken, getToken, listTokens, renderToken, revokeToken } from "./tokens.ts";
export { listAlerts } from "./reads/alerts.ts";
export {
  listByAvailable,
  readSettledBalances,
  sumBalances,
  type Balance,
} from "./reads/balances.ts";
export { readEntries, type Entry } from "./reads/entries.ts";
export { chargeLines } from "./reads/price-lines.ts";
export { getRequest, getRequestBody } from "./reads/request-detail.ts";
export { findNeighbours } from "./reads/neighbours.ts";
export {
  listRequests,
  renderAttempts,
  renderRequest,
  type RequestLogRow,
} from "./reads/requests.ts";
export { listRequestHeadlines, readHeadlines } from "./reads/request-list.ts";
export { search } from "./reads/search.ts";
export { readSpend, readSpends } from "./reads/spend.ts";
export { deliveryTable, requestConditions, taskTable } from "./reads/log-tables.ts";
export { findVisible } from "./reads/visible-ids.ts";
export { listVisible } from "./reads/visible-page.ts";
