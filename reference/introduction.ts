/**
 * Markdown text with the rules that hold for every operation. The API reference and the OpenAPI document begin with it.
 */
export const INTRODUCTION = `* Requests and responses are JSON; header names have any case. Every response has \`x-request-id\`. Errors from the API gateway
  have only \`{ "message": "…" }\` and \`apigw-requestid\`.
* \`HEAD\` returns the response of \`GET\` without a body.
* \`x-join-key\` is your API key. You see your own vaults only. A key has scopes. It can be limited to certain chains, vaults and
  amounts per deposit; anything else returns 403. These limits apply to deposits and vault lists only. Claims, withdrawals,
  cancellations and positions work for all your vaults.
* Every response to a key has its limit, as \`RateLimit-Policy: "key";q=6000;w=60\`, and its current state, as
  \`RateLimit: "key";r=5990;t=23\`: about 5,990 requests are left in the next 23 seconds (approximate).
* Users register in two calls, and log in in two. The first returns a challenge. The second takes the credentials'
  responses to it. The formats are those of Dfns' delegated registration and login, so its signers fit. docs/integrate/keys-and-passwords.md gives the signed
  bytes of each key. Sign the challenge as sent, or its text in base64url. A challenge is valid for ten minutes and one try.
* A login returns a session for 30 days. It works with your API key only: \`Authorization: Bearer <token>\`. A user has at most 20
  sessions; another login ends the oldest.
* Send addresses in lower case, upper case or with their EIP-55 checksum. A mixed-case address with a wrong checksum is refused.
  Responses have checksummed addresses.
* Token amounts are strings of decimal digits in the token's smallest unit, below 2^256. Times are ISO 8601 in UTC.
* Unknown body fields are refused, so a misspelt field cannot change a deposit. Unknown query parameters are ignored. An optional
  body field can be null, which equals leaving it out.
* Cache market responses for as long as \`cache-control\` says, which is a minute from when you get them. \`age\` is their age then;
  \`max-age\` includes it. If the source is down you get the last known data with \`x-stale\`. Do not cache it. Send
  \`If-None-Match\` with your \`etag\`: an unchanged response is a 304 without a body.
* Unsigned responses are compressed with Brotli or gzip if \`Accept-Encoding\` allows it. Signed responses never are.
* An empty path segment, such as \`//status\`, or an empty required query parameter returns the error of the missing parameter.
* Every success about a user, a chain or a transaction is signed if it has a body (RFC 9421, RFC 9530). The keys are at
  \`GET /.well-known/jwks.json\`. Cacheable responses and errors are not signed. Send \`Content-Digest\` with a request body, and the
  signature covers that request. docs/guides/verify-answers.md explains how to verify a response.
* Unknown is not zero: a value that cannot be read is left out and named, never \`"0"\`.
* Send the transactions of \`approval\` first and wait for their confirmation. Then send those of \`operations\`, in order, each on
  its \`chainId\`. \`calls\` has all of them as the parameter of \`wallet_sendCalls\` (EIP-5792).
* \`estimatedGas\` is the gas of all transactions in a dry run, plus 15 %. Unless \`simulation.status\` is \`success\`, it is an upper
  estimate: 70,000 for each approval, 500,000 for a deposit, 400,000 for a claim and for each call of a withdrawal, 200,000 for a
  cancellation. On rollups, add the fee for publishing data.

Every API error has this body. Match on \`code\`: it never changes.

\`\`\`json
{ "success": false, "statusCode": 401, "error": "Invalid API key", "code": "invalid_api_key",
  "message": "The API key was not recognised, has expired or was revoked.", "requestId": "…",
  "details": [ { "field": "amount", "issue": "must be positive" } ] }
\`\`\`

The gateway's own 413, 429, 431, 500 and 503 have only \`{ "message": "…" }\`.

\`details\` names all problems. The first field in the body's table decides \`code\`. If the API knows an amount that works, a detail
has it in \`atLeast\` or \`atMost\`, as a token amount. Send it in the \`field\` of that detail, in place of any other amount field
(\`shares\`, \`max\`). \`issue\` is a text for people and may change.`
