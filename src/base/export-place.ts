/** Destinations and formats of exports: one rule for the configuration and the command line. docs/data.md "Exports". */

/** `s3://bucket/prefix`, or a folder. Any other scheme is a typing error: no folder of that name is created. */
export const exportPlacePattern = "^(?:s3://[^/]+(?:/.*)?|(?![A-Za-z][A-Za-z0-9+.-]+:).+)$";

/** The formats of a day's file, the default first. */
export const exportFormats = ["jsonl", "parquet"] as const;
export type ExportFormat = (typeof exportFormats)[number];
