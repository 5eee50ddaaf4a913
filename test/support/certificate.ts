/**
 * A self-signed certificate for test servers on the loopback interface. It is written as DER by hand (RFC 5280), so that no
 * program has to be installed. Clients that trust it get it as a certificate authority.
 */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** One DER value: tag, length, content. */
function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  let head = [length];
  if (length > 255) head = [0x82, length >> 8, length & 255];
  else if (length > 127) head = [0x81, length];
  return Buffer.concat([Buffer.of(tag, ...head), content]);
}

const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts);
const set = (...parts: Uint8Array[]) => der(0x31, ...parts);
const identifier = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
const bits = (bytes: Uint8Array) => der(0x03, Buffer.of(0), bytes);
/** `YYMMDDhhmmssZ`. */
const utcTime = (date: Date) =>
  der(
    0x17,
    Buffer.from(
      date
        .toISOString()
        .replace(/[-:T]|\.\d+/g, "")
        .slice(2),
    ),
  );

const ecdsaWithSha256 = sequence(identifier("2a8648ce3d040302"));
const commonName = identifier("550403");
const subjectAltName = identifier("551d11");

export interface TestCertificate {
  readonly key: string;
  /** If it is self-signed, also the authority to trust. */
  readonly cert: string;
}

/** The signer and the attributes of a certificate, besides its names. */
interface CertificateOptions {
  /** The authority that signs it; self-signed if absent. */
  readonly by?: TestAuthority;
  /** Days from now; -1 and 1 if absent. */
  readonly days?: readonly [from: number, to: number];
  /** True if it may sign other certificates. */
  readonly isAuthority?: boolean;
}

export interface TestAuthority extends TestCertificate {
  /** The authority's name, as it stands in the certificates that it signs. */
  readonly name: Uint8Array;
}

const dayMs = 86_400_000;
const basicConstraints = identifier("551d13");
const isTrue = Buffer.of(1, 1, 0xff);

/** Makes an authority that signs certificates; with `by`, an intermediate one. */
export const makeAuthority = (by?: TestAuthority): TestAuthority =>
  makeSigned([], { isAuthority: true, ...(by && { by }) });

/** A certificate for these names and for 127.0.0.1, valid for two days around now. */
export const makeCertificate = (
  names: readonly string[] = ["localhost"],
  options: CertificateOptions = {},
): TestCertificate => makeSigned(names, options);

function makeSigned(
  names: readonly string[],
  { by, days = [-1, 1], isAuthority = false }: CertificateOptions,
): TestAuthority {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  // A unique subject: if two trusted authorities share a name, only the first is checked.
  const subject = `tollgate test ${randomBytes(8).toString("hex")}`;
  const name = sequence(set(sequence(commonName, der(0x0c, Buffer.from(subject)))));
  const alternatives = sequence(
    ...names.map((text) => der(0x82, Buffer.from(text))),
    der(0x87, Buffer.of(127, 0, 0, 1)),
  );
  const extensions = [sequence(subjectAltName, der(0x04, alternatives))];
  if (isAuthority) extensions.push(sequence(basicConstraints, isTrue, der(0x04, sequence(isTrue))));
  const serial = Buffer.concat([Buffer.of(1), randomBytes(8)]);
  const [from, to] = days.map((day) => utcTime(new Date(Date.now() + day * dayMs)));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, serial),
    ecdsaWithSha256,
    by?.name ?? name,
    sequence(from!, to!),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign("sha256", body, by?.key ?? privateKey);
  const whole = sequence(body, ecdsaWithSha256, bits(signature));
  const text = whole.toString("base64").replace(/.{64}/g, "$&\n");
  return {
    name,
    key: privateKey.export({ type: "pkcs8", format: "pem" }),
    cert: `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`,
  };
}
