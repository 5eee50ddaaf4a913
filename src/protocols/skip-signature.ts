/** Google's marker in place of a signature, for calls that another model made. Trap T38. */
export const skipSignature = "skip_thought_signature_validator";
