/** What is true of every operation, as Markdown: the beginning of each reference. */
export const INTRODUCTION = `* JSON in, JSON out; header names in any case. Every answer carries \`x-request-id\`,
  but those of the gateway itself, \`{ "message": "…" }\` alone, which have \`apigw-requestid\`.
* \`HEAD\` answers as \`GET\` does, without a body.
* \`x-join-key\` is your API key. You see your own vaults only. A key has scopes, and may be for certain chains, vaults and
  amounts of one deposit: the rest answers 403. Chains, vaults and amounts bound deposits and what is offered; claims,
  withdrawals, cancellations and what a user has are open in all vaults of yours.
* Every answer to a key tells its rate, as \`RateLimit-Policy: "key";q=6000;w=60\`, and where it stands, as
  \`RateLimit: "key";r=5990;t=23\`: about 5,990 requests are left for 23 seconds, as far as the server that answers knows.
* A user registers in two calls, and logs in in two. The first gives a challenge, the second takes what credentials made
  of it, in the formats of Dfns' delegated registration and login, so that its signers fit; what a key signs, byte by byte, is
  in docs/integrate.md. The challenge counts as it was sent or as base64url of its text. Challenges are good for ten minutes
  and one try.
* The session that a login gives is good for 30 days, with your API key alone: \`Authorization: Bearer <token>\`. A user has
  at most 20: one more login ends the oldest.
* Addresses may come in lower case, upper case or with their EIP-55 checksum; a mixed-case address with a wrong checksum
  is refused. Answers are checksummed.
* Token amounts are strings of decimal digits in the token's smallest unit, below 2^256. Times are ISO 8601 in UTC.
* Unknown body fields are refused, so that a misspelt one cannot change what a deposit does. Unknown query parameters
  are ignored. Optional fields of a body may be null, which is the same as leaving them out.
* Answers of the markets may be kept as long as \`cache-control\` says, which is a minute from when you get them: \`age\` is how
  old they were then, and \`max-age\` includes it. One past its time, because its source is down, has \`x-stale\` and is not
  to be kept. With \`If-None-Match\` and the \`etag\` of the one that you have, the same is 304 without a body.
* What is not signed is compressed, by Brotli or gzip, where \`Accept-Encoding\` says so; what is signed never is.
* An empty part of a path, such as \`//status\`, gets the error of the parameter that is missing there. So does a required
  query parameter that is empty.
* Every success that is about a user, a chain or a transaction and has a body is signed (RFC 9421, RFC 9530), by a key of
  \`GET /.well-known/jwks.json\`; what may be kept is not, and errors are not. Send \`Content-Digest\` along with a body, and the
  signature tells that the answer is to it; docs/guides/verify-answers.md says how to verify an answer.
* Unknown is not zero: what could not be read is left out and named, never \`"0"\`.
* Send the transactions of \`approval\` first and wait for their confirmation, then those of \`operations\`, in order,
  each on its \`chainId\`. \`calls\` is all of them as the parameter of \`wallet_sendCalls\` (EIP-5792), and \`link\` the only one
  as an EIP-681 link.
* \`estimatedGas\` is what a dry run of all transactions used, plus 15 %. Where \`simulation.status\` is not \`success\` it is
  an upper estimate: 70,000 for each approval, 500,000 for a deposit, 400,000 for a claim and for each call of a
  withdrawal, 200,000 for a cancellation. On rollups the fee for publishing data comes on top.

Every error of the API has this body; match on \`error\` or \`code\`, both are stable:

\`\`\`json
{ "success": false, "statusCode": 401, "error": "Invalid API key", "code": "invalid_api_key",
  "message": "The API key was not recognised, has expired or was revoked.", "requestId": "…",
  "details": [ { "field": "amount", "issue": "must be positive" } ] }
\`\`\`

The gateway's own 413, 429, 431, 500 and 503 have \`{ "message": "…" }\` alone.

The field that comes first in the body's table decides \`error\`; \`details\` names all problems. Where an amount is known that
works, a detail has it in \`atLeast\` or \`atMost\`, a token amount like every other: send it in the \`field\` of that detail, which
takes the place of another one that says how much (\`shares\`, \`max\`). \`issue\` is for people, and may change.`
