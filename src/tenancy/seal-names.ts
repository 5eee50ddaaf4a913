/** The names that sealed values are bound to: a value copied into another row cannot be opened there. */

/** The settings of a provider that was added over the API. */
export const providerSealName = (id: string): string => `provider ${id}`;

/** The key of one of a provider's credentials. */
export const credentialSealName = (id: string, credential: string): string =>
  `provider ${id} credential ${credential}`;

/** A callback signing secret that was derived from an earlier master key. */
export const signingSealName = (workspaceId: string, version: number): string =>
  `signing ${workspaceId} ${version}`;

/** The kept bodies of a call. */
export const bodySealName = (call: { readonly workspaceId: string; readonly id: string }): string =>
  `${call.workspaceId} ${call.id}`;

/** Identifies an answer of the response cache. */
export interface AnswerName {
  readonly workspaceId: string;
  /** SHA-256 of the request and everything that determines its answer, in hex. */
  readonly digest: string;
}

export const answerSealName = ({ workspaceId, digest }: AnswerName): string =>
  `cache ${workspaceId} ${digest}`;
