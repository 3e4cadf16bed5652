//! TLS of a probed connection: whom to trust, the handshake over the kernel's socket, and records as bytes, since after the
//! handshake segments are of our own making. Not for: TCP.

use super::Trust;
use super::fault::Fault;
use crate::Error;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

/// What every connection goes by.
pub type Config = Arc<ClientConfig>;

/// Reads the certificates to trust.
pub fn config(trust: &Trust) -> Result<Config, Error> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|e| Error::Broken(format!("TLS: {e}")))?;
    let mut config = match trust {
        Trust::Anyone => {
            let anyone = Arc::new(Anyone(provider));
            builder.dangerous().with_custom_certificate_verifier(anyone).with_no_client_auth()
        }
        Trust::System => {
            let mut roots = RootCertStore::empty();
            // Those that cannot be read are as if they were not there; without any, a handshake fails by name.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            builder.with_root_certificates(roots).with_no_client_auth()
        }
        Trust::File(path) => builder.with_root_certificates(from_file(path)?).with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn from_file(path: &Path) -> Result<RootCertStore, Error> {
    let place = || format!("certificates \"{}\"", path.display());
    let refused = |why: String| Error::Refused { place: place(), why };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|e| refused(e.to_string()))? {
        let certificate = certificate.map_err(|e| refused(e.to_string()))?;
        roots.add(certificate).map_err(|e| refused(e.to_string()))?;
    }
    if roots.is_empty() {
        return Err(refused("there is no certificate in it (PEM is expected)".into()));
    }
    Ok(roots)
}

/// The client's end of a TLS connection.
pub struct Tls(ClientConnection);

impl Tls {
    /// One to this host.
    pub fn new(config: &Config, host: &str) -> Result<Self, Fault> {
        let name = ServerName::try_from(host.to_owned()).map_err(|e| Fault::Tls(e.to_string()))?;
        ClientConnection::new(Arc::clone(config), name).map(Self).map_err(|e| Fault::Tls(e.to_string()))
    }

    /// Whether the handshake is still under way.
    pub fn is_handshaking(&self) -> bool {
        self.0.is_handshaking()
    }

    /// Whether it has something to say that [`Self::seal`] has not given out yet.
    pub fn has_to_say(&self) -> bool {
        self.0.wants_write()
    }

    /// Goes on with the handshake, or with reading what follows it, over a socket. What the socket says to it, it says.
    pub fn go_on(&mut self, stream: &mut (impl Read + Write)) -> std::io::Result<()> {
        self.0.complete_io(stream).map(drop)
    }

    /// The records that carry these bytes.
    pub fn seal(&mut self, bytes: &[u8]) -> Result<Vec<u8>, Fault> {
        let mut records = Vec::new();
        let mut seal = || -> std::io::Result<()> {
            self.0.writer().write_all(bytes)?;
            while self.0.wants_write() {
                self.0.write_tls(&mut records)?;
            }
            Ok(())
        };
        seal().map_err(|e| Fault::Tls(e.to_string()))?;
        Ok(records)
    }

    /// What these records carry, as far as they are whole.
    pub fn open(&mut self, mut records: &[u8]) -> Result<Vec<u8>, Fault> {
        let mut plain = Vec::new();
        let fault = |e: &dyn std::fmt::Display| Fault::Tls(e.to_string());
        while !records.is_empty() {
            if self.0.read_tls(&mut records).map_err(|e| fault(&e))? == 0 {
                break;
            }
            self.0.process_new_packets().map_err(|e| fault(&e))?;
            let mut part = [0; 4096];
            while let Ok(n @ 1..) = self.0.reader().read(&mut part) {
                plain.extend(&part[..n]);
            }
        }
        Ok(plain)
    }
}

/// Trusts every certificate, and checks only that the server has its key.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
