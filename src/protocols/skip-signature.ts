/** Google's marker in place of a signature, for calls that another model made. Trap T38. */
export const skipSignature = "skip_thought_signature_validator";

/**
 * The marker as answers have it: the same bytes in the standard alphabet of base64. Google's SDKs for Go, Java and .NET read a signature as
 * bytes, and fail at a `_`.
 */
export const skipSignatureInAnswers = "skip/thought/signature/validator";

const markers = new Set<unknown>([skipSignature, skipSignatureInAnswers]);

/** True for the marker in either alphabet: SDKs that read it as bytes send it back in their own. */
export const isSkipSignature = (value: unknown): boolean => markers.has(value);
