//! Names of blocks that agent files often use and this server does not have, so that an error shows more than an id.

use protocol::BlockId;

/// Sorted by id.
const NAMES: [(&str, &str); 15] = [
    ("21a79166-9df7-4b5f-9f36-96f639d86112", "GmailGetThreadBlock"),
    ("25310c70-b89b-43ba-b25c-4dfa7e2a481c", "GmailReadBlock"),
    ("4335878a-394e-4e67-adf2-919877ff49ae", "SendEmailBlock"),
    ("436c3984-57fd-4b85-8e9a-459b356883bd", "ExtractWebsiteContentBlock"),
    ("4a92261b-701e-4ffb-8970-675fd28e261f", "PostRedditCommentBlock"),
    ("5724e902-3635-47e9-a108-aaa0263a4988", "GoogleSheetsReadBlock"),
    ("6c60ec01-8128-419e-988f-96a063ee2fea", "GithubPullRequestTriggerBlock"),
    ("7940189d-b137-4ef1-aa18-3dd9a5bde9f3", "GoogleSheetsManageSheetBlock"),
    ("8ad9e103-78f2-4fdb-ba12-3571f2c95e98", "GithubGetCIResultsBlock"),
    ("b1628cf2-4622-49bf-80cf-10e55826e247", "SendDiscordFileBlock"),
    ("d0822ab5-9f8a-44a3-8971-531dd0178b6b", "SendDiscordMessageBlock"),
    ("ed1ae7a0-b770-4089-b520-1f0005fad19a", "AIImageGeneratorBlock"),
    ("f3a8f7e1-4b1d-4e5f-9f2a-7c3d5a2e6b4c", "TranscribeYoutubeVideoBlock"),
    ("f3b1c1b2-4c4f-4f0d-8d2f-4c4f0d8d2f4c", "PrintToConsoleBlock"),
    ("ffef3c4c-6cd0-48dd-817d-459f975219f4", "GithubListPullRequestsBlock"),
];

pub(crate) fn name(block: &BlockId) -> Option<&'static str> {
    NAMES.iter().find(|(id, _)| *id == block.as_str()).map(|(_, name)| *name)
}
