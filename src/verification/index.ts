/** The proof that the ledger adds up: its rules once more, over its tables alone. docs/ledger.md "Proof". */
export { isCount } from "./difference.ts";
export { differencesIn, verifyLedger } from "./verify.ts";
export { createVerifier, type Verification, type Verifier } from "./verifier.ts";
