/**
 * Service tiers in answers. pydantic-ai, async-openai and other clients have a closed list of OpenAI's tiers and fail at others, such as
 * Groq's `on_demand` and the `standard` of Bedrock and Claude. TXT-10, RESP-52.
 */
const known = new Set<unknown>([
  "auto",
  "default",
  "flex",
  "scale",
  "priority",
  "fast",
  "ultrafast",
  null,
  undefined,
]);

/** True if an answer names a tier that OpenAI does not have. */
export const hasForeignTier = (answer: Readonly<Record<string, unknown>>): boolean =>
  !known.has(answer["service_tier"]);
