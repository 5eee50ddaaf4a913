/** Replicas: which of them may be read, how far behind they are, and reads that they answer. docs/scale.md "Read replicas". */
export { compareReplica } from "./compare.ts";
export { openReplica, type Replica } from "./replica.ts";
