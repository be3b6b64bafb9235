type Words = { readonly symbol: string; readonly name: string }

const TOP_LEVEL_DOMAINS =
  'app|art|biz|br|bet|cash|cc|city|claims?|click|club|co|com|cx|dev|digital|events?|fi|finance|fun|fund|gg|gift|gifts|global|gr|id|info|io|life|link|live|lol|ltd|ly|me|money|net|network|news|one|online|org|page|pro|promo|ru|run|sh|shop|site|space|store|tech|to|today|top|tokyo|uk|us|vip|web|website|win|work|works|world|ws|xyz|zone'
/** A link to a site. */
const SITE = new RegExp(String.raw`:\/\/|\bwww\.|\bt\.me\b|[\p{L}\d-](\.|\s+\.\s*)(${TOP_LEVEL_DOMAINS})\b`, 'iu')
/** Something is to be claimed, visited or won. */
const LURE = /\b(claim|airdrop|visit|reward|bonus|giveaway|voucher|winner|eligible)/i

/** Other alphabets with letters that look like Latin ones. */
const OTHER_LETTERS = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u
/** Letters of mathematics and of full width; marks without a width, or that turn the direction of the text. */
const DISGUISED =
  /[\u{1D400}-\u{1D7FF}\uFF21-\uFF5A\u00AD\u180E\u200B\u200C\u200E\u200F\u202A-\u202E\u2060-\u2064\uFEFF]/u

/** Letters and signs that look like these Latin letters (https://www.unicode.org/reports/tr39). */
const LOOK_ALIKES = {
  a: 'аα',
  b: 'вβь₿',
  c: 'сϲ',
  d: 'ԁ',
  e: 'еεєξ',
  g: 'ɡ',
  h: 'нηһ',
  i: 'іιı',
  j: 'ј',
  k: 'кκ',
  l: 'ӏ',
  m: 'мμ',
  n: 'ν',
  o: 'оοօ',
  p: 'рρ',
  q: 'ԛ',
  s: 'ѕ',
  t: 'тτ₮',
  u: 'цυս',
  v: 'ѵ',
  w: 'ԝω',
  x: 'хχ',
  y: 'уγ',
  z: 'ζ',
}
const LATIN = new Map(Object.entries(LOOK_ALIKES).flatMap(([latin, others]) => [...others].map((one) => [one, latin])))

/** The filters of lists: a list is the same for many requests, and its words take most of the work. */
const filters = new WeakMap<readonly Words[], (token: Words) => boolean>()

/**
 * Returns the function that tells whether a token that is not among the listed ones looks like spam: its name or symbol
 * leads to a site, lures, is that of a listed token, or has letters that look like others or cannot be seen. A list must not
 * change afterwards: its filter is remembered.
 */
export function spamFilter(listed: readonly Words[]): (token: Words) => boolean {
  const filter = filters.get(listed) ?? createFilter(listed)
  filters.set(listed, filter)
  return filter
}

function createFilter(listed: readonly Words[]): (token: Words) => boolean {
  const imitated = new Set(listed.flatMap(({ symbol, name }) => [skeleton(symbol), skeleton(name)]))
  imitated.delete('')
  const isSpamText = (text: string) =>
    [SITE, LURE, DISGUISED].some((pattern) => pattern.test(text)) ||
    imitated.has(skeleton(text)) ||
    (OTHER_LETTERS.test(text) && /[a-z]/i.test(text))
  return ({ symbol, name }) => isSpamText(symbol) || isSpamText(name)
}

/** Returns the function that tells whether a token looks like spam with this symbol. A listed token never does. */
export function spamRule(
  listed: readonly (Words & { readonly address: string })[],
): (token: string, symbol: string) => boolean {
  const addresses = new Set(listed.map(({ address }) => address))
  const looksLikeSpam = spamFilter(listed)
  return (token, symbol) => !addresses.has(token) && looksLikeSpam({ symbol, name: symbol })
}

/** True for the names of an NFT collection or an unlisted token that look like spam, whatever is listed. */
export const isSpam = spamFilter([])

/** What a reader sees of a text: Latin letters and digits, whatever letters they are made of. */
function skeleton(text: string): string {
  const letters = [...text.normalize('NFKD').toLowerCase()].map((letter) => LATIN.get(letter) ?? letter)
  return letters.join('').replaceAll(/[^\p{L}\d]/gu, '')
}
