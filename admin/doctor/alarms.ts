import { ListSubscriptionsByTopicCommand, type SNSClient } from '@aws-sdk/client-sns'
import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs'
import * as z from 'zod'
import { alarmsTopicName, EDGE_REGION, edgeAlarmsTopicName, type Stage } from '../../infra/environments.ts'
import { queueName } from '../../infra/queues.ts'
import { findQueueUrl } from '../../lib/aws/queue.ts'
import { type Finding, formatCount, guideSection } from './finding.ts'

/** Set of a stage's alarms: those in the stage's own region, or those of its edge (CloudFront and firewall). */
export type AlarmScope = 'stage' | 'edge'

/** Numbers of confirmed and unconfirmed subscribers of a stage's alarms. */
export type SubscriberCounts = { readonly confirmed: number; readonly pending: number }

/** Maximum pages of subscriptions that are read, with a hundred subscriptions each. */
const MAX_PAGES = 10

/** Counts the subscribers of a stage's alarm topic; sends at most twelve requests. */
export async function countSubscribers(
  { snsIn, sqs }: { readonly snsIn: (region?: string) => SNSClient; readonly sqs: SQSClient },
  stage: Stage,
  alarmsOf: AlarmScope,
): Promise<SubscriberCounts> {
  const [topic, elsewhere] =
    alarmsOf === 'edge' ? [edgeAlarmsTopicName(stage), EDGE_REGION] : [alarmsTopicName(stage), undefined]
  const sns = snsIn(elsewhere)
  // The ARN of the alarms' topic contains the account id. This function reads the id from the ARN of one of the stage's
  // queues.
  const QueueUrl = await findQueueUrl(queueName(stage, 'deliveryQueue'), sqs)
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }))
  const [arn, partition, , region, account] = z.string().parse(Attributes?.QueueArn).split(':')
  const TopicArn = [arn, partition, 'sns', elsewhere ?? region, account, topic].join(':')
  const subscriptionArns: string[] = []
  let NextToken: string | undefined
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await sns.send(new ListSubscriptionsByTopicCommand({ TopicArn, ...(NextToken && { NextToken }) }))
    subscriptionArns.push(...(answer.Subscriptions ?? []).map(({ SubscriptionArn = '' }) => SubscriptionArn))
    NextToken = answer.NextToken
    if (!NextToken) break
  }
  // A pending or deleted subscription has a word such as `PendingConfirmation` in place of the ARN.
  return {
    confirmed: subscriptionArns.filter((text) => text.startsWith('arn:')).length,
    pending: subscriptionArns.filter((text) => text === 'PendingConfirmation').length,
  }
}

/** Checks that a stage's alarms reach a confirmed subscriber. */
export function checkSubscribers(
  { confirmed, pending }: SubscriberCounts,
  stage: Stage,
  alarmsOf: AlarmScope,
): Finding {
  const [name, topic] =
    alarmsOf === 'edge'
      ? ['alarms of the edge', `${edgeAlarmsTopicName(stage)} in ${EDGE_REGION}`]
      : ['alarms', alarmsTopicName(stage)]
  if (confirmed > 0)
    return { mark: 'ok', name, result: `reach ${confirmed} of ${formatCount(confirmed + pending, 'subscriber')}` }
  const mark = stage === 'prod' ? 'FAIL' : 'WARN'
  if (pending > 0) {
    const remedy = `Confirm the e-mail that AWS sent; where it is gone, subscribe the address to ${topic} again`
    return { mark, name, result: `reach nobody: ${pending} not confirmed`, remedy }
  }
  const remedy = `Set alarmEmail in stages.json and deploy: ${guideSection('stages', 'Settings')}`
  return { mark, name, result: 'reach nobody', remedy }
}
