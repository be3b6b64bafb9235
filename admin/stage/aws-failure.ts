import { AdminError } from '../admin.ts'

const AGAIN = 'then run the same command again: it continues where it stopped'

/**
 * Pairs of a pattern and a sentence. The pattern matches a failure message of AWS, its SDK or the CDK. The sentence tells the operator the
 * remedy.
 */
const SENTENCES: readonly (readonly [RegExp, string])[] = [
  [
    /\bExpiredToken(Exception)?\b|\bRequestExpired\b|security token included in the request is expired|token.*has expired|session .*has expired|\bToken is expired\b|refresh this SSO session|\bUnauthorizedException\b/i,
    `Your AWS session has ended. Log in again, as with aws sso login, ${AGAIN}.`,
  ],
  [
    /\b(Credentials|Token)ProviderError\b|Could not load credentials|Unable to resolve AWS account|no credentials have been configured/i,
    `There are no AWS credentials. Log in, as with aws sso login, or set AWS_PROFILE, ${AGAIN}.`,
  ],
  [
    /\b(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|TimeoutError)\b/,
    `AWS cannot be reached. Check your network and AWS_REGION, ${AGAIN}.`,
  ],
  [/Region is missing|Could not determine the AWS region/i, 'There is no AWS region. Set AWS_REGION, as eu-west-1.'],
  [
    /\b(UnrecognizedClientException|InvalidClientTokenId|InvalidSignatureException|SignatureDoesNotMatch|AuthFailure)\b|security token included in the request is invalid/,
    `AWS does not know your credentials. Check AWS_PROFILE and the clock of this machine, ${AGAIN}.`,
  ],
  [
    /\bThrottl(ing|ed)(Exception)?\b|\bTooManyRequestsException\b|\bRequestLimitExceeded\b|\bRate exceeded\b/,
    'AWS limits requests at the moment. Wait a minute and run the same command again.',
  ],
  [
    /LimitExceeded(Exception)?\b|\bServiceQuotaExceededException\b/,
    `A quota of the account is used up. Request a higher one in the console of Service Quotas, ${AGAIN}.`,
  ],
  [
    /\b(OptInRequired|SubscriptionRequiredException)\b/,
    `The account cannot use this service yet. Finish its sign-up in the console, or enable the region there, ${AGAIN}.`,
  ],
  [
    /_IN_PROGRESS state and can ?not be updated/,
    'CloudFormation still works on a stack. Run the same command again: it waits for that first.',
  ],
  [
    /\bin \w*(ROLLBACK_COMPLETE|_FAILED) state and can ?not be updated/,
    'A stack is in a state that no deploy can change. Run the same command again: it offers the way out.',
  ],
  [
    /requires bootstrap stack version '\d+', found/,
    "CDK's bootstrap is too old. Run npx cdk bootstrap, then the same command again.",
  ],
  [
    /SSM parameter \/cdk-bootstrap|has not been bootstrapped|is this account bootstrapped/i,
    'CDK finds no bootstrap here. Run npx cdk bootstrap, then the same command again.',
  ],
  [
    /already scheduled for deletion/,
    `A secret of an earlier stage waits for its deletion. If you need its value, run aws secretsmanager restore-secret --secret-id <name> and copy it. Then run aws secretsmanager delete-secret --secret-id <name> --force-delete-without-recovery, ${AGAIN}.`,
  ],
  [
    /\balready exists\b|\bAWS::EarlyValidation::ResourceExistenceCheck\b/,
    'Something that an earlier stage retained is in the way. CloudFormation can import tables; secrets and queues have to be deleted first (docs/operate/stages.md, "Remove a stage").',
  ],
]

/** Returns a sentence with the remedy for this failure message of AWS or the CDK; undefined for an unknown message. */
export function describeAwsFailure(text: string): string | undefined {
  if (/account must be verified/.test(text)) {
    return `AWS has to verify your account before it makes that. Ask AWS Support to verify it, ${AGAIN}.`
  }
  const denied = /not authorized to perform:? ([\w:]+)/.exec(text)?.[1]
  const [, kind] = /explicit deny in a (service|resource) control policy/.exec(text) ?? []
  if (kind) {
    return `A ${kind} control policy of your organization denies ${denied ?? 'that'}. Ask its administrators, ${AGAIN}.`
  }
  if (denied) {
    return `Your AWS role may not ${denied}. A first stage needs AdministratorAccess. Get that right, ${AGAIN}.`
  }
  if (/\bAccessDenied(Exception)?\b|\bUnauthorizedOperation\b|\bAuthorizationError\b/.test(text)) {
    return `AWS refuses that to your role. A first stage needs AdministratorAccess. Get it, ${AGAIN}.`
  }
  return SENTENCES.find(([pattern]) => pattern.test(text))?.[1]
}

/** Returns an AdminError with the remedy for this error, or the same error if no remedy is known. */
export function explainError(error: unknown): unknown {
  if (error instanceof AdminError || !(error instanceof Error)) return error
  const sentence = describeAwsFailure(`${error.name}: ${error.message}`)
  return sentence ? new AdminError(`${sentence}\n(${error.name}: ${error.message})`) : error
}
