/** How the tables grow: the parts of the request log, made ahead, and what goes when its time is over. docs/operate.md. */
export { keepParts } from "./parts.ts";
export {
  addErased,
  eraseEndUserPage,
  nothingErased,
  workspaceAfter,
  type Erased,
  type ErasurePlace,
} from "./end-user.ts";
export { retentionStep, type Retention } from "./step.ts";
