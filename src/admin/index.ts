/** The door of administration: who asks, what they may do, and the record of what they did. docs/management.md. */
export { changePassword, signIn, type SignedIn } from "./accounts.ts";
export { adminTokenActor, creatorOf, type Actor } from "./actor.ts";
export { openAdminToken } from "./admin-token.ts";
export { listAudit, renderAudit, writeAudit } from "./audit.ts";
export { createActors, type Actors } from "./authenticate.ts";
export {
  createEventHub,
  type EventHub,
  type EventHubOptions,
  type NewRow,
  type NoticeTopic,
  type Sight,
  type Sink,
  type StreamEvent,
  type Topic,
} from "./events/index.ts";
export { etagOf } from "./etag.ts";
export { allows, insufficient, organizationIdsOf, permit, visibilityOf } from "./guard.ts";
export { acceptInvitation } from "./joining.ts";
export {
  keyKind,
  memberKind,
  organizationKind,
  signingSecretKind,
  tokenKind,
  workspaceKind,
} from "./kinds.ts";
export {
  changeObject,
  createObject,
  readObject,
  type Asked,
  type Kind,
  type WithinChange,
} from "./objects.ts";
export {
  cookiePrefix,
  createSessions,
  passwordLengthMax,
  passwordLengthMin,
  type Sessions,
} from "./sessions.ts";
export { offerReset, readReset, useReset } from "./password-resets.ts";
export {
  endSession,
  endSessions,
  getSession,
  listSessions,
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
export { createThrottle, sweepSignIns, type Throttle } from "./throttle.ts";
export { loosensCaps, sameCaps } from "./spend-caps.ts";
export { rightsOf } from "./rights-of.ts";
export { rights, verdict, type Action, type Relation, type Role } from "./rights.ts";
export { createToken, getToken, listTokens, renderToken, revokeToken } from "./tokens.ts";
export {
  deliveryTrail,
  type Entry,
  findNeighbours,
  findVisible,
  getRequest,
  getRequestBody,
  listAlerts,
  listRequestHeadlines,
  readEntries,
  readHeadlines,
  readSpend,
  renderRequest,
  type RequestLogRow,
  requestConditions,
  listRequests,
  listVisible,
  renderAttempts,
  search,
  taskTrail,
} from "./reads/index.ts";
