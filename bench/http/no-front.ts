/** In place of src/http/bare: every connection stays with node:http. See without.ts. */

export function answerOnBareSockets(): void {}
