/** The table: every action of the console, in the order in which it is walked. */
import type { Action } from "./action.ts";
import { keyActions } from "./actions-keys.ts";
import { memberActions } from "./actions-members.ts";
import { ownActions, outsideActions } from "./actions-own.ts";
import { playgroundActions } from "./actions-playground.ts";
import { supplyActions } from "./actions-supply.ts";
import { workspaceActions } from "./actions-workspaces.ts";

export const actions: readonly Action[] = [
  ...keyActions,
  ...playgroundActions,
  ...supplyActions,
  ...workspaceActions,
  ...memberActions,
  ...ownActions,
  ...outsideActions,
];

/** What takes another host and is walked in a file of its own: the file, and the name of its test. */
export const elsewhere = {
  "POST /auth/sign-in/social": ["oidc.test.ts", "a member comes back signed in, on the first page"],
} as const;
