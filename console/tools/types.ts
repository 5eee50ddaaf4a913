/** Reads an OpenAPI document from its input and writes it as TypeScript. Run by scripts/console-types.ts. */
import { text } from "node:stream/consumers";
import openapiTypescript, { astToString } from "openapi-typescript";

process.stdout.write(astToString(await openapiTypescript(await text(process.stdin))));
