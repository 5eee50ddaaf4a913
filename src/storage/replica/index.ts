/** Read replicas: whether they may be read, how far behind they are, and reads on them. docs/scale.md "Read replicas". */
export { compareReplica } from "./compare.ts";
export { openReplica, type Replica } from "./replica.ts";
