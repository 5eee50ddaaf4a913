/** What addresses hold that nobody is shown: user and password before the host, `https://user:password@host`, and keys in a query. */

/** Up to the last `@`: a password may hold what an address may not. */
const userinfo = /(?<=:\/\/)[^\s"]*(?=@)/g;

/** The password is a variable's name already. */
const isNamed = (text: string): boolean => /^[^:]*:?\$\{\w+\}$/.test(text);

const query = /(?<=:\/\/[^\s"?]*\?)[^\s"]+/g;

/** A message with both masked. */
export const withoutAddressSecrets = (message: string): string =>
  message.replace(userinfo, (text) => (isNamed(text) ? text : "****")).replace(query, "****");

/** Said of an address of a variable. */
export const userinfoHint = "; a user and a password before the host would not be sent";

/** Whether an address names a user or a password. */
export function hasUserinfo(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { username, password } = new URL(address);
  return username !== "" || password !== "";
}
