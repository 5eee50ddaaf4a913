/**
 * The OpenAPI 3.1 document of all endpoints. Request schemas are those that check requests, and error examples those of real answers;
 * test/http/openapi.test.ts checks the rest against the running gateway. docs/operate.md; `docs/openapi.json` is generated from it.
 */
import { version } from "../../base/own-files.ts";
import { admin } from "./admin.ts";
import { auth } from "./auth.ts";
import { chat } from "./chat.ts";
import { anyCredential, headers, securitySchemes, sharedSchemas } from "./components.ts";
import type { Node } from "./document.ts";
import { counts } from "./counting.ts";
import { embeddings } from "./embeddings.ts";
import { errorSchemas } from "./errors.ts";
import { files } from "./files.ts";
import { generateContent } from "./generate-content.ts";
import { health } from "./health.ts";
import { images } from "./images.ts";
import { keyPart } from "./key.ts";
import { messages } from "./messages.ts";
import { models } from "./models.ts";
import { responses } from "./responses.ts";
import { share, type Shared } from "./share.ts";
import { tasks } from "./tasks.ts";
import { videos } from "./videos.ts";

const parts = [
  chat,
  responses,
  messages,
  generateContent,
  counts,
  embeddings,
  models,
  images,
  tasks,
  videos,
  files,
  keyPart,
  admin,
  auth,
  health,
];

const about = `One API key for generative models of several vendors, in the protocol that you already use.

Authenticate with \`Authorization: Bearer <API key>\`, or send the key as your vendor's SDK does. The examples call the sandbox: simulated vendors, for which you need no vendor key.

The management API under \`/admin/v1\` takes the admin token, a personal token or a console session. Lists are \`{data, has_more, next_cursor}\`, money is decimal strings, and in a change \`null\` means no limit and an absent field means unchanged. Objects come with an \`ETag\`. Send it as \`If-Match\`: if the object has changed since, the change fails with 412. Objects that you may not see get the same answer as objects that do not exist.

Every answer to a call has an \`x-request-id\`. \`gw.droppedParams\`, or the header \`x-gw-dropped-params\` of a stream, names the parameters that the gateway dropped or changed. Errors have the shape of the protocol that was called, with a stable code.`;

interface Document {
  readonly openapi: string;
  readonly info: Node & { readonly version: string };
  readonly paths: Shared["paths"];
  readonly components: Shared["components"] & Node;
}

/** The document as plain JSON; the same on every machine. */
export function openapiDocument(): Document {
  const document = {
    openapi: "3.1.1",
    info: {
      title: "Tollgate",
      version,
      summary: "A self-hosted gateway in front of generative models.",
      description: about,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: anyCredential,
    tags: [
      { name: "Text", description: "Four protocols; each answers in its own shape." },
      { name: "Embeddings", description: "Vectors of texts." },
      { name: "Models", description: "Models, their parameters and prices." },
      { name: "Images", description: "Images, made and edited while the caller waits." },
      { name: "Tasks", description: "Images and videos, made in the background." },
      { name: "Videos", description: "The same tasks in the formats of three vendors." },
      { name: "Files", description: "The files that tasks produced." },
      { name: "Account", description: "The limits and the spend of the calling key." },
      {
        name: "Management",
        description: "Organizations, workspaces, members, keys, money and logs.",
      },
      { name: "Sessions", description: "Signing in to the console." },
      { name: "Operation", description: "For probes and dashboards." },
    ],
    paths: Object.assign({}, ...parts.map((part) => part.paths)) as object,
    components: {
      securitySchemes,
      headers,
      schemas: Object.assign({}, sharedSchemas, errorSchemas, ...parts.map((part) => part.schemas)),
    },
  };
  // Schemas carry symbols of TypeBox that are not part of JSON.
  const plain = JSON.parse(JSON.stringify(document)) as Document;
  const { paths, components } = share(plain.paths, plain.components.schemas);
  return { ...plain, paths, components: { ...plain.components, ...components } };
}
