/** Limits the growth of tables: makes parts of the request log ahead, and deletes what is past its time. docs/data.md. */
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
