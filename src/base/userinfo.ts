/** Masks secrets in addresses: user and password before the host, `https://user:password@host`, and keys in a query. */

/** Matches up to the last `@`: a password may have characters that are invalid in an address. */
const userinfo = /(?<=:\/\/)[^\s"]*(?=@)/g;

/** True if the password is only the name of a variable. */
const isNamed = (text: string): boolean => /^[^:]*:?\$\{\w+\}$/.test(text);

const query = /(?<=:\/\/[^\s"?]*\?)[^\s"]+/g;

/** Returns a message with userinfo and queries masked. */
export const maskUrlSecrets = (message: string): string =>
  message.replace(userinfo, (text) => (isNamed(text) ? text : "****")).replace(query, "****");

/** The end of a message about an address that comes from a variable. */
export const userinfoHint = "; a user and a password before the host would not be sent";

/** True if an address has a user or a password. */
export function hasUserinfo(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { username, password } = new URL(address);
  return username !== "" || password !== "";
}
