/** The table of all actions of the console, in the order of the walk. */
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

/** Actions that need another host and have their own file: the file, and the name of its test. */
export const elsewhere = {
  "POST /auth/sign-in/social": [
    "oidc.test.ts",
    "a member returns from the identity provider signed in, on the first page",
  ],
} as const;
