/** Numbers of the responses protocol. Spec: "POST /v1/responses", "Limits". */
export const limits = {
  /** Above every model, and an exact number whatever it is added to. */
  outputTokensMax: 2_147_483_647,
  topLogprobsMax: 20,
} as const;
