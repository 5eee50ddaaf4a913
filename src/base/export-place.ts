/** How exports are written down: one rule for the configuration and the command line. docs/operate.md "Exports". */

/** `s3://bucket/prefix`, or a folder. Any other scheme is a slip of the pen, and no folder of that name is made. */
export const exportPlacePattern = "^(?:s3://[^/]+(?:/.*)?|(?![A-Za-z][A-Za-z0-9+.-]+:).+)$";

/** What a day's file can be, the default first. */
export const exportFormats = ["jsonl", "parquet"] as const;
export type ExportFormat = (typeof exportFormats)[number];
