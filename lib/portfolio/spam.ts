/** What of a token that is not listed looks like spam. */
export type SpamSignal =
  /** The indexer says so. */
  | 'flagged'
  /** Its name or symbol leads to a site. */
  | 'site'
  /** Its name or symbol lures: something is to be claimed, visited or won. */
  | 'lure'
  /** It has the name or symbol of a listed token, whose contract is another. */
  | 'imitation'
  /** Its name or symbol has letters that look like others, or cannot be seen. */
  | 'look-alike'

type Words = { readonly symbol: string; readonly name: string }

const TOP_LEVEL_DOMAINS =
  'app|art|biz|br|bet|cash|cc|city|claims?|click|club|co|com|cx|dev|digital|events?|fi|finance|fun|fund|gg|gift|gifts|global|gr|id|info|io|life|link|live|lol|ltd|ly|me|money|net|network|news|one|online|org|page|pro|promo|ru|run|sh|shop|site|space|store|tech|to|today|top|tokyo|uk|us|vip|web|website|win|work|works|world|ws|xyz|zone'
const SITE = new RegExp(String.raw`:\/\/|\bwww\.|\bt\.me\b|[\p{L}\d-](\.|\s+\.\s*)(${TOP_LEVEL_DOMAINS})\b`, 'iu')
const LURE = /\b(claim|airdrop|visit|reward|bonus|giveaway|voucher|winner|eligible)/i

/** Other alphabets with letters that look like Latin ones. */
const OTHER_LETTERS = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u
/** Letters of mathematics and of full width; marks without a width, or that turn the direction of the text. */
const DISGUISED =
  /[\u{1D400}-\u{1D7FF}\uFF21-\uFF5A\u00AD\u180E\u200B\u200C\u200E\u200F\u202A-\u202E\u2060-\u2064\uFEFF]/u

/** Letters and signs that look like these Latin letters (https://www.unicode.org/reports/tr39). */
const LOOKS_LIKE: Readonly<Record<string, string>> = {
  а: 'a',
  α: 'a',
  в: 'b',
  β: 'b',
  ь: 'b',
  '₿': 'b',
  с: 'c',
  ϲ: 'c',
  ԁ: 'd',
  е: 'e',
  ε: 'e',
  є: 'e',
  ξ: 'e',
  ɡ: 'g',
  н: 'h',
  η: 'h',
  һ: 'h',
  і: 'i',
  ι: 'i',
  ı: 'i',
  ӏ: 'l',
  ј: 'j',
  к: 'k',
  κ: 'k',
  м: 'm',
  μ: 'm',
  ν: 'n',
  о: 'o',
  ο: 'o',
  օ: 'o',
  р: 'p',
  ρ: 'p',
  ԛ: 'q',
  ѕ: 's',
  ѕ̇: 's',
  т: 't',
  τ: 't',
  '₮': 't',
  ц: 'u',
  υ: 'u',
  ս: 'u',
  ѵ: 'v',
  ԝ: 'w',
  ω: 'w',
  х: 'x',
  χ: 'x',
  у: 'y',
  γ: 'y',
  ζ: 'z',
}

/** Returns the function that tells why a token that is not among the listed ones looks like spam; nothing when it does not. */
export function spamSigns(listed: readonly Words[]): (token: Words & { readonly isFlagged: boolean }) => SpamSignal[] {
  const known = new Set(listed.flatMap(({ symbol, name }) => [skeleton(symbol), skeleton(name)]))
  known.delete('')
  return ({ symbol, name, isFlagged }) => {
    const texts = [symbol, name]
    const signs: Record<SpamSignal, boolean> = {
      flagged: isFlagged,
      site: texts.some((text) => SITE.test(text)),
      lure: texts.some((text) => LURE.test(text)),
      imitation: texts.some((text) => known.has(skeleton(text))),
      'look-alike': texts.some((text) => DISGUISED.test(text) || (OTHER_LETTERS.test(text) && /[a-z]/i.test(text))),
    }
    // Object.keys forgets that `signs` has these names and no other.
    return (Object.keys(signs) as SpamSignal[]).filter((sign) => signs[sign])
  }
}

/** What a reader sees of a text: Latin letters and digits, whatever letters they are made of. */
function skeleton(text: string): string {
  const letters = [...text.normalize('NFKD').toLowerCase()].map((letter) => LOOKS_LIKE[letter] ?? letter)
  return letters.join('').replaceAll(/[^\p{L}\d]/gu, '')
}
