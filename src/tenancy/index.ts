/** The public exports of tenancy: organizations, workspaces, members, users, API keys, and the caller of a request. */
export { thresholdsMax } from "./alert-thresholds.ts";
export { createAuthenticator, type Authenticator } from "./authenticate.ts";
export { bootstrap } from "./bootstrap.ts";
export type { Caller, ScopeLayer } from "./caller.ts";

export { changeRow, changeMany, subscribeChanges, type ChangeDatabase } from "./changes.ts";
export { checkName } from "./checks.ts";
export {
  cursorOf,
  lockClause,
  invalidCursor,
  notFound,
  onlyRow,
  pageLimit,
  pageOf,
  type ChangeContext,
  type Page,
  type PageRequest,
  type ReadOptions,
  type RowContext,
} from "./context.ts";
export { readCredential, type CredentialCarriers } from "./credentials.ts";
export {
  renderKey,
  renderKeySettings,
  renderSpend,
  type KeyRecord,
  type KeySpend,
} from "./key-record.ts";
export { settingBeyondBounds } from "./key-bounds.ts";
export { keySorts, listKeys } from "./key-list.ts";
export { disableKey, disableKeysOf, enableKey, enableKeys, revokeKey } from "./key-states.ts";
export {
  changeKey,
  createKey,
  getKey,
  revealKey,
  type KeyInput,
  type KeyPatch,
  type KeySettings,
  type KeyWithSecret,
} from "./keys.ts";
export {
  claimUser,
  getInvited,
  firstPassword,
  invitationDays,
  invite,
  openInvitation,
  openInvitationsOf,
  useInvitation,
  openInvitationsFor,
  useInvitationAs,
  type OpenInvitation,
} from "./invitations.ts";
export {
  findLogins,
  hasFirstPassword,
  hashFor,
  joinedUserWith,
  loginOf,
  removeUser,
  revokeTokens,
  setPassword,
  storedPassword,
  keepsPassword,
  useOneTimePassword,
  type Login,
} from "./logins.ts";
export { checkMasterKeys, hasMasterKey, MasterKeyError } from "./master-key.ts";
export {
  addMember,
  changeMember,
  getMember,
  listMembers,
  lockMembership,
  removeMember,
  type Member,
  type MemberReference,
  type MemberRole,
} from "./members.ts";
export {
  changeOrganization,
  createOrganization,
  getOrganization,
  listOrganizations,
  type Organization,
} from "./organizations.ts";
export {
  renderRateLimits,
  sameRateLimits,
  type RateLimits,
  type RateLimitsPatch,
} from "./rate-limits.ts";
export { cacheSecondsMax, type ResponseCache, type ResponseCachePatch } from "./response-cache.ts";
export { followRouting, mergeRouting, renderRouting } from "./routing-settings.ts";
export {
  activeKeysOf,
  addressEraser,
  erasePersonRows,
  findPerson,
  membershipsOf,
  type ErasedPerson,
} from "./erase-person.ts";
export { keepForRestore, restoreMember } from "./removed-members.ts";
export { rotateKey } from "./rotate-key.ts";
export { issueTemporary } from "./temporary-key.ts";
export { makeReset, invalidReset, openReset, type PasswordReset } from "./password-resets.ts";
export { passwordLengthMax, passwordLengthMin, verifyPassword } from "./passwords.ts";
export type { RoutingPatch, RoutingSettings } from "./routing-settings.ts";
export { keyScopeOf, routingScope, routingScopeOf } from "./scope.ts";
export { sealText, unsealText, type Sealing } from "./sealed-text.ts";
export type { Secrets } from "./secrets.ts";
export { openSecrets, type OpenSecrets } from "./open-secrets.ts";
export {
  answerSealName,
  bodySealName,
  credentialSealName,
  providerSealName,
  type AnswerName,
} from "./seal-names.ts";
export {
  masterKeyProgress,
  masterKeySignal,
  rotateMasterKey,
  type RotationEnd,
} from "./rotate-master-key.ts";
export {
  enableSigning,
  readSigningSecret,
  rotateSigningSecret,
  signingOverlapMs,
  type SigningSecret,
} from "./signing-secret.ts";
export {
  forgetLowBalance,
  lineNanoMax,
  parseCreditLine,
  parseLowBalance,
  renderCreditLine,
  renderLowBalance,
  unlimited,
} from "./credit-line.ts";
export { capNanoMax, renderSpendCaps, type SpendCaps, type SpendCapsPatch } from "./spend-caps.ts";
export { addressText, changeUser, createUser, getUser, usersOf } from "./users.ts";
export {
  seesEverything,
  visibilityParams,
  whereVisible,
  workspaceOfKey,
  type Visibility,
} from "./visibility.ts";
export {
  changeWorkspace,
  createWorkspace,
  getWorkspace,
  listWorkspaces,
  type Workspace,
} from "./workspaces.ts";
