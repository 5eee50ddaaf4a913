/** Numbers of the chat-completions protocol. Spec: "Limits"; CONV-206, LIM-12. */
export const limits = {
  /** `stop` holds up to four sequences. */
  stopSequencesMax: 4,
  /** OpenAI's bound of `n`. */
  answersMax: 128,
  /** Above every model, and small enough that `n` times it is still an exact number. */
  outputTokensMax: 2_147_483_647,
} as const;
