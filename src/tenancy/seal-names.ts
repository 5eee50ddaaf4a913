/** What sealed values are bound to: a value that was copied into another row does not open there. */

/** The settings of a provider that was added over the API. */
export const providerSealName = (id: string): string => `provider ${id}`;

/** The key of one of its credentials. */
export const credentialSealName = (id: string, credential: string): string =>
  `provider ${id} credential ${credential}`;

/** A callback signing secret that was derived from an earlier master key. */
export const signingSealName = (workspaceId: string, version: number): string =>
  `signing ${workspaceId} ${version}`;
