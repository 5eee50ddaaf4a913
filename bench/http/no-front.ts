/** Replaces src/http/front/fast: every connection stays with node:http. See without.ts. */

export function installFastPath(): void {}
