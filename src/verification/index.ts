/** Proves that the ledger adds up: applies its rules again, to its tables alone. docs/ledger.md "Proof". */
export { isCount } from "./difference.ts";
export { differencesIn, verifyLedger } from "./verify.ts";
export { createVerifier, type Verification, type Verifier } from "./verifier.ts";
