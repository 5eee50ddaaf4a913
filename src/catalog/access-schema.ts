/** The schema of a provider's access settings. A part of the file's schema (schema.ts). */
import { Type, type Static } from "../base/json-schema.ts";
import { authTypes } from "./access.ts";

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));
const texts = (description: string) =>
  Type.Optional(Type.Record(Type.String(), Type.String(), { description }));

const authSchema = Type.Object(
  {
    type: Type.Enum([...authTypes], { description: "how requests are authorized" }),
    name: text("header, query: the name of the header or the parameter that holds the key"),
    tenant_id: text("azure: the directory of the client"),
    client_id: text("azure: the client; alone, the managed identity to use"),
    client_secret: text("azure: the client's secret, best as ${VARIABLE}"),
    authority_host: text("azure: who gives the tokens, for clouds other than the public one"),
    scope: text("azure: what the token is for"),
    service_account_key: text(
      "google: a service account's key file, as its path or its text, best as ${VARIABLE}",
    ),
    region: text("aws: the region of the signature; taken from base_url if absent"),
    service: text("aws: the service of the signature; taken from base_url if absent"),
    access_key_id: text("aws: absent: the machine's own credentials"),
    secret_access_key: text("aws: best as ${VARIABLE}"),
    session_token: text("aws: of temporary keys, best as ${VARIABLE}"),
    profile: text("aws: a profile of the machine's own configuration"),
  },
  {
    additionalProperties: false,
    description: "how requests are authorized, where it is not as the dialect has it",
  },
);

const tlsSchema = Type.Object(
  {
    ca: text("a PEM file of the authorities to trust, in place of the system's"),
    cert: text("a PEM file of the gateway's own certificate, with those between; needs key"),
    key: text("a PEM file of its private key, without a passphrase; needs cert"),
    server_name: text("the name in the server's certificate, where it is not base_url's"),
  },
  { additionalProperties: false, description: "whom to trust, and as whom to show oneself" },
);

/** The access fields of a provider. */
export const accessFields = {
  proxy: text("the proxy to it, http://user:password@host:port, or `none`; absent: HTTPS_PROXY"),
  tls: Type.Optional(tlsSchema),
  auth: Type.Optional(authSchema),
  headers: texts("headers of every request"),
  query: texts("parameters added to every address"),
  paths: texts("the path below base_url by protocol, with {model} and {method}"),
  request: Type.Optional(
    Type.Object(
      {
        add: Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), {
            description: "fields of every request, over what the caller says",
          }),
        ),
        remove: Type.Optional(
          Type.Array(Type.String({ minLength: 1 }), {
            description: "fields that this provider does not take",
          }),
        ),
      },
      { additionalProperties: false, description: "fields to set or to leave out" },
    ),
  ),
};

export type AuthRow = Static<typeof authSchema>;
export type TlsRow = Static<typeof tlsSchema>;
