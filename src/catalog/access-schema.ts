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
    authority_host: text(
      "azure: the host that issues tokens, for clouds other than the public one",
    ),
    scope: text("azure: the scope of the token"),
    service_account_key: text(
      "google: a service account's key file, as its path or its text, best as ${VARIABLE}",
    ),
    region: text("aws: the region of the signature; taken from base_url if absent"),
    service: text("aws: the service of the signature; taken from base_url if absent"),
    access_key_id: text("aws: the access key's id; the machine's own credentials if absent"),
    secret_access_key: text("aws: the access key's secret, best as ${VARIABLE}"),
    session_token: text("aws: the session token of temporary keys, best as ${VARIABLE}"),
    profile: text("aws: a profile of the machine's own configuration"),
  },
  {
    additionalProperties: false,
    description: "how requests are authorized, if it differs from the dialect",
  },
);

const tlsSchema = Type.Object(
  {
    ca: text("PEM file of trusted authorities, instead of the system's"),
    cert: text("PEM file of the gateway's client certificate with its intermediates; needs key"),
    key: text("PEM file of the certificate's private key, without a passphrase; needs cert"),
    server_name: text(
      "the name in the server's certificate, if it differs from the host of base_url",
    ),
  },
  {
    additionalProperties: false,
    description: "trusted authorities, and the gateway's client certificate",
  },
);

/** The access fields of a provider. */
export const accessFields = {
  proxy: text(
    "the proxy to this provider, http://user:password@host:port, or `none`; HTTPS_PROXY if absent",
  ),
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
            description: "fields to set in every request; they override the caller's",
          }),
        ),
        remove: Type.Optional(
          Type.Array(Type.String({ minLength: 1 }), {
            description: "fields to remove, because this provider does not accept them",
          }),
        ),
      },
      { additionalProperties: false, description: "fields to set or to remove in requests" },
    ),
  ),
};

export type AuthRow = Static<typeof authSchema>;
export type TlsRow = Static<typeof tlsSchema>;
