/** What the messages protocol can carry, as data. Spec: "Conversion rules", "Limits"; CONV-403 to CONV-426, CONV-605. */

export const limits = {
  temperatureMax: 1,
  /** `cache_control` markers in one request. */
  cacheBreakpointsMax: 4,
  /** The least `thinking.budget_tokens` the vendor takes; it must also stay below `max_tokens`. */
  budgetMin: 1024,
  /** Effort towards a budget (decisions: reasoning); above high the model's own maximum. */
  budgetByEffort: { minimal: 1024, low: 1024, medium: 8192, high: 24_576 },
  /** Sent as `max_tokens`, which is required, should a request come without one and without a model's limit. */
  maxTokensFallback: 4096,
  /** Media a message can hold; audio, video and files of other callers make the request fail. */
  media: ["image"],
} as const;
