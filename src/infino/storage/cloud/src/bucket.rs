//! Makes the store of a bucket from its options.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey as S3Key};
use object_store::azure::{AzureConfigKey as AzureKey, MicrosoftAzureBuilder};
use object_store::client::StaticCredentialProvider;
use object_store::gcp::{GcpCredential, GoogleCloudStorageBuilder, GoogleConfigKey as GoogleKey};
use object_store::list::PaginatedListStore;
use object_store::multipart::MultipartStore;
use object_store::{BackoffConfig, ClientConfigKey, ObjectStore, RetryConfig};

use tokio::sync::Semaphore;

use crate::http_client::{AzureSigner, Connector, Kind};
use crate::options::{parse_bool, parse_duration, Naming, Options, DEFAULT_TIMEOUT};
use crate::shared_config;

pub trait Cloud: ObjectStore + PaginatedListStore + MultipartStore {}
impl<T: ObjectStore + PaginatedListStore + MultipartStore> Cloud for T {}

/// A store with what messages about it say.
pub struct Bucket {
    pub store: Arc<dyn Cloud>,
    pub kind: Kind,
    pub uri: String,
    pub endpoint: String,
    /// How long an operation may take to get an answer.
    pub timeout: Duration,
    /// Bounds the requests under way.
    pub slots: Semaphore,
}

impl Bucket {
    fn new(
        store: impl Cloud,
        kind: Kind,
        uri: String,
        endpoint: String,
        timeout: Duration,
    ) -> Bucket {
        let slots = Semaphore::new(REQUESTS_AT_ONCE);
        Bucket {
            store: Arc::new(store),
            kind,
            uri,
            endpoint,
            timeout,
            slots,
        }
    }
}

const REQUESTS_AT_ONCE: usize = 64;

pub type Environment = HashMap<String, String>;

const S3: Naming = Naming {
    scheme: "s3",
    prefix: "aws_",
    variable_prefix: "AWS_",
    known: &[
        "aws_access_key_id",
        "aws_bucket",
        "aws_checksum_algorithm",
        "aws_default_region",
        "aws_disable_tagging",
        "aws_endpoint",
        "aws_endpoint_url",
        "aws_imdsv1_fallback",
        "aws_metadata_endpoint",
        "aws_profile",
        "aws_region",
        "aws_request_payer",
        "aws_role_arn",
        "aws_role_session_name",
        "aws_s3_express",
        "aws_secret_access_key",
        "aws_server_side_encryption",
        "aws_session_token",
        "aws_skip_signature",
        "aws_sse_bucket_key_enabled",
        "aws_sse_customer_key_base64",
        "aws_sse_kms_key_id",
        "aws_unsigned_payload",
        "aws_virtual_hosted_style_request",
        "aws_web_identity_token_file",
    ],
};

const AZURE: Naming = Naming {
    scheme: "az",
    prefix: "azure_",
    variable_prefix: "AZURE_",
    known: &[
        "azure_authority_host",
        "azure_authority_id",
        "azure_client_id",
        "azure_client_secret",
        "azure_container_name",
        "azure_disable_tagging",
        "azure_endpoint",
        "azure_federated_token_file",
        "azure_msi_endpoint",
        "azure_msi_resource_id",
        "azure_object_id",
        "azure_skip_signature",
        "azure_storage_account_key",
        "azure_storage_account_name",
        "azure_storage_sas_key",
        "azure_storage_token",
        "azure_storage_use_emulator",
        "azure_tenant_id",
        "azure_use_azure_cli",
        "azure_use_fabric_endpoint",
        "account_key",
        "account_name",
        "sas_token",
    ],
};

const GOOGLE: Naming = Naming {
    scheme: "gs",
    prefix: "google_",
    variable_prefix: "GOOGLE_",
    known: &[
        "google_application_credentials",
        "google_base_url",
        "google_bucket",
        "google_service_account",
        "google_service_account_key",
        "google_service_account_path",
        "google_skip_signature",
    ],
};

/// What of the options is for requests in general.
struct Client {
    timeout: Duration,
    connect_timeout: Duration,
}

impl Client {
    fn new(timeout: Option<&str>, connect_timeout: Option<&str>) -> Result<Client, String> {
        let timeout =
            timeout.map_or(Ok(DEFAULT_TIMEOUT), |text| parse_duration("timeout", text))?;
        let connect_timeout = connect_timeout.map_or(Ok(timeout.mul_f64(0.3)), |text| {
            parse_duration("connect_timeout", text)
        })?;
        Ok(Client {
            timeout,
            connect_timeout,
        })
    }

    /// The option as the library takes it. It is told no time for a whole request: that depends on
    /// the bytes sent, and is kept here.
    fn connect_timeout(&self) -> String {
        format!("{}ms", self.connect_timeout.as_millis().max(1))
    }
}

const NO_TIMEOUT: &str = "1day";

/// Requests are repeated by who makes them, if at all.
fn no_retries() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig::default(),
        max_retries: 0,
        retry_timeout: Duration::ZERO,
    }
}

fn check_encrypted(
    endpoint: Option<&str>,
    allows: Option<&str>,
    option: &str,
) -> Result<(), String> {
    let Some(endpoint) = endpoint else {
        return Ok(());
    };
    let Some((scheme, _)) = endpoint.split_once("://") else {
        return Err(format!(
            "the endpoint {endpoint:?} needs a scheme: https:// or http://"
        ));
    };
    let allows = allows.map_or(Ok(false), |value| parse_bool(option, value))?;
    if scheme.eq_ignore_ascii_case("http") && !allows {
        return Err(format!(
            "the endpoint {endpoint} is not encrypted: http is allowed with the storage option {option}=true"
        ));
    }
    Ok(())
}

fn is_s3_credential(key: &S3Key) -> bool {
    matches!(
        key,
        S3Key::AccessKeyId
            | S3Key::SecretAccessKey
            | S3Key::Token
            | S3Key::WebIdentityTokenFile
            | S3Key::RoleArn
            | S3Key::ContainerCredentialsRelativeUri
            | S3Key::ContainerCredentialsFullUri
            | S3Key::SkipSignature
    )
}

fn open_s3(
    bucket: &str,
    given: &[(String, String)],
    environment: &Environment,
) -> Result<Bucket, String> {
    let is_profile = |name: &str| matches!(name.to_lowercase().as_str(), "aws_profile" | "profile");
    let profile_name = given
        .iter()
        .find(|(name, _)| is_profile(name))
        .map(|(_, value)| value.as_str());
    let rest: Vec<_> = given
        .iter()
        .filter(|(name, _)| !is_profile(name))
        .cloned()
        .collect();
    let mut options = Options::<S3Key>::parse(&rest, &S3)?;
    // Credentials of different places are never mixed: a key of one with the token of another.
    let wants_credentials = !options.is_given(is_s3_credential) && profile_name.is_none();
    options.add_environment(environment, &S3, |key| {
        wants_credentials || !is_s3_credential(key)
    });
    let profile = match shared_config::read(environment, profile_name) {
        Err(why) if profile_name.is_some() || !options.has(is_s3_credential) => return Err(why),
        read => read.unwrap_or_default(),
    };
    if !options.has(is_s3_credential) {
        if let (Some(id), Some(secret)) = (
            profile.get("aws_access_key_id"),
            profile.get("aws_secret_access_key"),
        ) {
            options.values.push((S3Key::AccessKeyId, id.to_string()));
            options
                .values
                .push((S3Key::SecretAccessKey, secret.to_string()));
            if let Some(token) = profile.get("aws_session_token") {
                options.values.push((S3Key::Token, token.to_string()));
            }
        } else if profile_name.is_some() {
            return Err(
                "the profile has no aws_access_key_id and aws_secret_access_key".to_string(),
            );
        }
    }
    if !options.has(|key| matches!(key, S3Key::Region | S3Key::DefaultRegion)) {
        if let Some(region) = profile.get("region") {
            options.values.push((S3Key::Region, region.to_string()));
        }
    }
    if !options.has(|key| matches!(key, S3Key::Endpoint | S3Key::S3Endpoint)) {
        if let Some(endpoint) = profile.get("endpoint_url") {
            options.values.push((S3Key::Endpoint, endpoint.to_string()));
        }
    }
    let client_key = |key| S3Key::Client(key);
    let endpoint = options
        .get(&S3Key::S3Endpoint)
        .or_else(|| options.get(&S3Key::Endpoint));
    check_encrypted(
        endpoint,
        options.get(&client_key(ClientConfigKey::AllowHttp)),
        "aws_allow_http",
    )?;
    let client = Client::new(
        options.get(&client_key(ClientConfigKey::Timeout)),
        options.get(&client_key(ClientConfigKey::ConnectTimeout)),
    )?;
    let region = options
        .get(&S3Key::Region)
        .or_else(|| options.get(&S3Key::DefaultRegion));
    let endpoint = match endpoint {
        Some(endpoint) => endpoint.to_string(),
        None => format!("of AWS in {}", region.unwrap_or("us-east-1")),
    };
    let connector = Connector::new(Kind::S3);
    let mut builder = AmazonS3Builder::new();
    for (key, value) in options.values {
        builder = builder.with_config(key, value);
    }
    let store = builder
        .with_config(client_key(ClientConfigKey::Timeout), NO_TIMEOUT)
        .with_config(
            client_key(ClientConfigKey::ConnectTimeout),
            client.connect_timeout(),
        )
        .with_retry(no_retries())
        .with_http_connector(connector)
        .with_bucket_name(bucket)
        .build()
        .map_err(|error| error.to_string())?;
    let uri = format!("s3://{bucket}");
    Ok(Bucket::new(store, Kind::S3, uri, endpoint, client.timeout))
}

fn is_azure_credential(key: &AzureKey) -> bool {
    matches!(
        key,
        AzureKey::AccessKey
            | AzureKey::SasKey
            | AzureKey::Token
            | AzureKey::ClientId
            | AzureKey::ClientSecret
            | AzureKey::AuthorityId
            | AzureKey::FederatedTokenFile
            | AzureKey::UseAzureCli
            | AzureKey::SkipSignature
    )
}

fn open_azure(
    bucket: &str,
    given: &[(String, String)],
    environment: &Environment,
) -> Result<Bucket, String> {
    let mut options = Options::<AzureKey>::parse(given, &AZURE)?;
    let wants_credentials = !options.is_given(is_azure_credential);
    options.add_environment(environment, &AZURE, |key| {
        wants_credentials || !is_azure_credential(key)
    });
    let is_emulator = options
        .get(&AzureKey::UseEmulator)
        .map_or(Ok(false), |value| {
            parse_bool("azure_storage_use_emulator", value)
        })?;
    let endpoint = options.get(&AzureKey::Endpoint);
    let client_key = |key| AzureKey::Client(key);
    if !is_emulator {
        let allows = options.get(&client_key(ClientConfigKey::AllowHttp));
        check_encrypted(endpoint, allows, "azure_allow_http")?;
    }
    let client = Client::new(
        options.get(&client_key(ClientConfigKey::Timeout)),
        options.get(&client_key(ClientConfigKey::ConnectTimeout)),
    )?;
    let account = match options.get(&AzureKey::AccountName) {
        Some(account) => account.to_string(),
        None if is_emulator => "devstoreaccount1".to_string(),
        None => {
            return Err(
                "an account is needed: set the storage option azure_storage_account_name"
                    .to_string(),
            );
        }
    };
    let endpoint = match endpoint {
        _ if is_emulator => environment
            .get("AZURITE_BLOB_STORAGE_URL")
            .cloned()
            .unwrap_or_else(|| "http://127.0.0.1:10000".to_string()),
        Some(endpoint) => endpoint.to_string(),
        None => format!("https://{account}.blob.core.windows.net"),
    };
    let connector = Connector::new(Kind::Azure);
    let mut builder = MicrosoftAzureBuilder::new();
    for (key, value) in options.values {
        builder = builder.with_config(key, value);
    }
    let store = builder
        .with_config(client_key(ClientConfigKey::Timeout), NO_TIMEOUT)
        .with_config(
            client_key(ClientConfigKey::ConnectTimeout),
            client.connect_timeout(),
        )
        .with_retry(no_retries())
        .with_http_connector(connector.clone())
        .with_container_name(bucket)
        .build()
        .map_err(|error| error.to_string())?;
    connector.set_signer(AzureSigner {
        account,
        credentials: Arc::clone(store.credentials()),
    });
    let uri = format!("az://{bucket}");
    Ok(Bucket::new(
        store,
        Kind::Azure,
        uri,
        endpoint,
        client.timeout,
    ))
}

fn open_google(
    bucket: &str,
    given: &[(String, String)],
    environment: &Environment,
) -> Result<Bucket, String> {
    let is_credential = |key: &GoogleKey| {
        matches!(
            key,
            GoogleKey::ServiceAccount
                | GoogleKey::ServiceAccountKey
                | GoogleKey::ApplicationCredentials
                | GoogleKey::SkipSignature
        )
    };
    let mut options = Options::<GoogleKey>::parse(given, &GOOGLE)?;
    let wants_credentials = !options.is_given(is_credential);
    options.add_environment(environment, &GOOGLE, |key| {
        wants_credentials || !is_credential(key)
    });
    let client_key = |key| GoogleKey::Client(key);
    let endpoint = options.get(&GoogleKey::BaseUrl);
    check_encrypted(
        endpoint,
        options.get(&client_key(ClientConfigKey::AllowHttp)),
        "allow_http",
    )?;
    let client = Client::new(
        options.get(&client_key(ClientConfigKey::Timeout)),
        options.get(&client_key(ClientConfigKey::ConnectTimeout)),
    )?;
    let is_anonymous = options
        .get(&GoogleKey::SkipSignature)
        .map_or(Ok(false), |value| {
            parse_bool("google_skip_signature", value)
        })?;
    let endpoint = endpoint
        .unwrap_or("https://storage.googleapis.com")
        .to_string();
    let mut builder = GoogleCloudStorageBuilder::new();
    for (key, value) in options.values {
        builder = builder.with_config(key, value);
    }
    if is_anonymous {
        // The library asks for credentials even so, and would look for them everywhere.
        let nobody = GcpCredential {
            bearer: String::new(),
        };
        builder = builder.with_credentials(Arc::new(StaticCredentialProvider::new(nobody)));
    }
    let store = builder
        .with_config(client_key(ClientConfigKey::Timeout), NO_TIMEOUT)
        .with_config(
            client_key(ClientConfigKey::ConnectTimeout),
            client.connect_timeout(),
        )
        .with_retry(no_retries())
        .with_http_connector(Connector::new(Kind::Google))
        .with_bucket_name(bucket)
        .build()
        .map_err(|error| error.to_string())?;
    let uri = format!("gs://{bucket}");
    Ok(Bucket::new(
        store,
        Kind::Google,
        uri,
        endpoint,
        client.timeout,
    ))
}

/// Opens a bucket, or a container of Azure; sends nothing. `environment` is that of the process.
pub fn open(
    kind: Kind,
    bucket: &str,
    given: &[(String, String)],
    environment: &Environment,
) -> Result<Bucket, String> {
    match kind {
        Kind::S3 => open_s3(bucket, given, environment),
        Kind::Azure => open_azure(bucket, given, environment),
        Kind::Google => open_google(bucket, given, environment),
    }
}
