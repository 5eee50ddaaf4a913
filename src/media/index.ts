/** What an image or video call means: families, fields, usage and prices. How a vendor is asked is upstream's concern. */
export type * from "./types.ts";
